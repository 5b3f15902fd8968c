"""Somebody dies: the command, the keeper, the machine; at rest and at each step of the journal."""
import os
import signal
import time
import unittest

import rig
import scan

BUSY = "import time; print('began', flush=True); time.sleep(300)"

# The moments between two effects, as runtime/execute and runtime/lifecycle name them.
STEPS = ["image", "cgroups", "scratch", "machine", "agent", "token", "identity"]
MOMENTS = (["entered", "intended"]
           + [f"{step}.{phase}" for step in STEPS for phase in ("begun", "acted", "recorded")]
           + ["running", "command.started", "exported", "closing"]
           + [f"{step}.{phase}" for step in reversed(STEPS) for phase in ("ending", "ended")]
           + ["searched", "sealed", "closed"])
SAMPLE = ["entered", "machine.acted", "running", "machine.ended", "sealed"]


class Dying(rig.EndToEnd):
    def test_the_command_dies_and_the_machine_ends_on_time(self):
        process = self.start(self.task([self.python("import time; print('began', flush=True); time.sleep(8)")],
                                       create={"image": "python311", "ttl": "40s"}))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.assertTrue(sandbox["keeper_alive"])
        self.kill(process.pid)
        self.finish(process)
        self.assertTrue(self.sandboxes()[0]["keeper_alive"], "the keeper must outlive the command")
        self.eventually(lambda: self.sandboxes()[0]["state"] == "closed", "the sandbox outlived its time")
        closed, = self.assert_over()
        self.assertIn(closed["close_reason"], ("deadline", "idle"))
        self.assertNotIn("keeper", [line.split(" ")[0] for line in self.receipt(closed).splitlines()])

    def test_the_keeper_dies_and_nothing_of_the_machine_survives(self):
        process = self.start(self.task([self.python(BUSY)]))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.kill(sandbox["keeper_pid"])
        said = self.finish(process)
        self.assertEqual(process.returncode, 125, said)
        closed, = self.assert_over(reason="keeper lost")
        self.assertIn("keeper of this sandbox ended before", self.receipt(closed))

    def test_both_die_and_the_next_ps_closes_the_books(self):
        process = self.start(self.task([self.python(BUSY)]))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.kill(process.pid)
        self.kill(sandbox["keeper_pid"])
        self.finish(process)
        self.eventually(lambda: not scan.processes(sandbox["sandbox"]), "the machine survived its keeper", 30)
        self.assert_over(reason="keeper lost")

    def test_the_keeper_stops_and_the_machine_dies_on_time(self):
        process = self.start(self.task([self.python(BUSY)], create={"image": "python311", "ttl": "50s"}))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.kill(sandbox["keeper_pid"], signal.SIGSTOP)
        over = (sandbox["deadline_ms"] - sandbox["created_ms"]) / 1000 + 1
        self.assertTrue(self.machines(sandbox), "it has time left, and runs")
        # Nobody but its watchdog is there to end it: no verb runs meanwhile.
        while time.time() < sandbox["deadline_ms"] / 1000 - 1:
            self.assertTrue(self.machines(sandbox), "it has time left, and runs")
            time.sleep(1)
        self.eventually(lambda: not self.machines(sandbox), "the machine outlived its time", 60)
        late = time.time() - sandbox["created_ms"] / 1000 - over
        self.assertLess(late, 10 + 15, "the watchdog has 10 seconds; the rest is for a busy host")
        self.assertTrue(self.sandboxes()[0]["keeper_alive"], "it is stopped, and not overdue yet")
        self.assertFalse(self.sandboxes()[0]["overdue"])
        self.eventually(lambda: time.time() > sandbox["deadline_ms"] / 1000 + 1 + 30 + 1, "time stands still", 120)
        listed = self.curfew("ps")
        self.assertIn("is overdue: its keeper had not ended it in time", listed.stderr, listed.stdout)
        self.assertIn("overdue", listed.stdout)
        self.assertNotIn("overdue", self.curfew("ps").stdout)
        said = self.finish(process)
        self.assertEqual(process.returncode, 125, said)
        closed, = self.assert_over(reason="overdue")
        receipt = self.receipt(closed)
        self.assertIn("LATE: seen to be gone", receipt)
        self.assertIn("a sweep ended the keeper", receipt)
        self.assertIn("ended late", self.curfew("receipt", "verify", closed["sandbox"]).stdout)

    def test_a_keeper_that_goes_on_too_late_says_so(self):
        process = self.start(self.task([self.python(BUSY)], create={"image": "python311", "ttl": "40s"}))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.kill(sandbox["keeper_pid"], signal.SIGSTOP)
        self.eventually(lambda: not self.machines(sandbox), "the machine outlived its time", 120)
        self.eventually(lambda: time.time() > sandbox["deadline_ms"] / 1000 + 1 + 10 + 2, "time stands still", 120)
        self.kill(sandbox["keeper_pid"], signal.SIGCONT)
        self.finish(process)
        closed, = self.assert_over(reason="deadline")
        receipt = self.receipt(closed)
        self.assertIn("LATE: seen to be gone", receipt)
        self.assertNotIn("a sweep", receipt)

    def test_the_watchdog_dies_and_the_machine_goes_with_it(self):
        process = self.start(self.task([self.python(BUSY)]))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        watchdogs = [pid for pid, command in self.named(sandbox) if "watchdog" in command]
        self.assertEqual(len(watchdogs), 1)
        self.kill(watchdogs[0])
        said = self.finish(process)
        self.assertEqual(process.returncode, 125, said)
        self.assertIn("watchdog has ended", said)
        self.assert_over(reason="machine lost")

    @staticmethod
    def named(sandbox):
        """Living processes whose command line, group or files name it: pid and command line."""
        lines = scan.processes(sandbox["sandbox"])
        return [(int(line.split()[1].rstrip(":")), line) for line in lines]

    def machines(self, sandbox):
        return [pid for pid, command in self.named(sandbox) if "qemu" in command]

    def test_the_keeper_is_asked_to_end(self):
        process = self.start(self.task([self.python(BUSY)]))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        self.kill(sandbox["keeper_pid"], signal.SIGTERM)
        said = self.finish(process)
        self.assertEqual(process.returncode, 125, said)
        closed, = self.assert_over(reason="terminated")
        self.assertIn("1 process\n", self.receipt(closed))

    def test_the_machine_dies(self):
        process = self.start(self.task([self.python(BUSY)]))
        self.wait_for("began", process)
        sandbox, = self.sandboxes()
        machines = self.machines(sandbox)
        for machine in machines:
            self.kill(machine)
        said = self.finish(process)
        self.assertTrue(machines)
        self.assertEqual(process.returncode, 125, said)
        self.assert_over(reason="machine lost")


class Moments(rig.EndToEnd):
    def die_at(self, moment):
        task = self.task([self.python("import os; os.makedirs('/work/out'); open('/work/out/a', 'w').write('a')")],
                         export=["/work/out/**"])
        done = self.run_task(task, environment={"CURFEW_KILL_AT": moment})
        self.assertEqual(done.returncode, 125, f"{moment}: {done.stderr}")
        # Only after the last of them there was nothing left to do for a sweep.
        self.assertEqual(moment != "closed", "had lost its keeper" in done.stderr, f"{moment}: {done.stderr}")
        self.assert_over()

    def test_a_sample_of_moments(self):
        for moment in SAMPLE:
            with self.subTest(moment):
                self.setUp()
                self.die_at(moment)

    @unittest.skipUnless(os.environ.get("CURFEW_TEST_FULL"), "every moment is for the full tests")
    def test_every_moment(self):
        for moment in MOMENTS:
            with self.subTest(moment):
                self.setUp()
                self.die_at(moment)

    def test_the_sweep_dies_too(self):
        task = self.task([self.python("pass")])
        for moment in ("sweep.closing", "sweep.revoked", "sweep.cleared", "sweep.searched", "sweep.sealed"):
            with self.subTest(moment):
                self.setUp()
                self.policies = self.policies
                task = self.task([self.python("pass")])
                process = self.start(task, environment={"CURFEW_KILL_AT": "machine.acted"})
                self.finish_and_leave(process)
                os.environ["CURFEW_KILL_AT"] = moment
                try:
                    died = self.curfew("ps")
                finally:
                    del os.environ["CURFEW_KILL_AT"]
                self.assertIn(died.returncode, (-signal.SIGKILL, 0))
                self.assert_over()

    def finish_and_leave(self, process):
        """Kills the command as soon as its keeper is dead, so that it sweeps nothing."""
        self.wait_for("encrypted disk", process)
        self.kill(process.pid)
        process.communicate(timeout=rig.PATIENCE)
        self.eventually(lambda: not self.keepers(), "the keeper lives", 60)

    @staticmethod
    def keepers():
        return [pid for pid in os.listdir("/proc") if pid.isdigit()
                and scan.read(f"/proc/{pid}/environ").find("CURFEW_KILL_AT=machine.acted") >= 0
                and scan.read(f"/proc/{pid}/comm").strip() == "curfew-keeper"]


if __name__ == "__main__":
    rig.main()
