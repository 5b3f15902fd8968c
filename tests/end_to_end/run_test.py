"""The whole path on a real guest, as a person meets it."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import rig
import scan

# A class of no task here: with it, the set lets something out, so that native code is of use.
REACH = """language 1
package tests.reach

sandbox reach when task.kind == "reach" {
  image { allow python311  isolation any }
  network { allow GET "http://files.example/**" }
  lifetime { ttl 5m  grace 1s }
}
"""


class Example(rig.EndToEnd):
    def test_the_first_task_of_the_examples(self):
        folder = os.path.join(rig.ROOT, "examples", "01-first-task")
        self.policies[0] = os.path.join(folder, "first-task.curfew")
        done = self.run_task(os.path.join(folder, "task.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2262 primes", done.stdout)
        self.assertIn("DENY exec /usr/bin/pip, by analysis.image.exec", done.stderr)
        self.assertIn("emulation is no security boundary", done.stderr)
        self.assertIn("verdict    clean", done.stderr)
        with open(os.path.join(self.out, "primes.json"), "rb") as got, \
                open(os.path.join(folder, "expected", "primes.json"), "rb") as expected:
            self.assertEqual(got.read(), expected.read())
        sandbox, = self.assert_over(reason="done")
        receipt = self.receipt(sandbox)
        self.assertIn("ended      2 processes", receipt)
        self.assertIn("killed", receipt)


class Status(rig.EndToEnd):
    def test_status_streams_and_time_outs(self):
        done = self.run_task(self.task([
            self.python("import sys; print('to out'); print('to err', file=sys.stderr)"),
            self.python("import time; time.sleep(60)", timeout="2s", allow_failure=True),
            {"run": ["sh", "-c", "true"], "allow_failure": True},
            {"run": ["no-such-program"], "allow_failure": True},
            {"run": ["python3", "-c", "pass"], "cwd": "/nowhere", "allow_failure": True},
            self.python("import os; os.kill(os.getpid(), 9)", allow_failure=True),
            self.python("raise SystemExit(7)"),
            self.python("print('unreached')"),
        ]))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("to out\n", done.stdout)
        self.assertNotIn("to err", done.stdout)
        self.assertIn("to err", done.stderr)
        self.assertNotIn("unreached", done.stdout)
        self.assertIn("its time-out ended it", done.stderr)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertIn("could not enter its directory", done.stderr)
        receipt = self.receipt(self.assert_over()[0])
        self.assertIn("not run    no-such-program", receipt)
        self.assertIn("not run    python3 -c pass  (inside: the command could not enter its directory", receipt)
        self.assertIn("denied     sh -c true", receipt)
        self.assertNotIn("not ended", receipt)

    def test_a_denied_command_ends_the_task_with_126(self):
        done = self.run_task(self.task([{"run": ["sh", "-c", "true"]}, self.python("print('unreached')")]))
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertNotIn("unreached", done.stdout)
        self.assert_over()

    def test_a_denied_create_makes_nothing_but_a_receipt(self):
        done = self.run_task(self.task([self.python("pass")], kind="other"))
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn("class.none", done.stderr)
        sandbox, = self.assert_over(reason="denied")
        self.assertIn("resources  0 destroyed", self.receipt(sandbox))

    def test_a_wish_that_makes_no_request_is_denied_with_its_place(self):
        done = self.run_task(self.task([], create={"image": "python311", "ttl": "soon"}))
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn("request.invalid", done.stderr)
        self.assertIn("/create/ttl", done.stderr)
        sandbox, = self.assert_over()
        self.assertIn("task       e2e of user:root", self.receipt(sandbox))

    def test_its_time_is_over(self):
        task = self.task([self.python("import time; print('began', flush=True); time.sleep(300)")],
                         create={"image": "python311", "ttl": "20s"})
        done = self.run_task(task)
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assert_over(reason="deadline")

    def test_json_says_everything(self):
        done = self.run_task(self.task([self.python("print('hello')")]), "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        kinds = [event["event"] for event in events]
        for kind in ("began", "decided", "step", "ready", "command", "output", "exited", "closed"):
            self.assertIn(kind, kinds)
        ready, = [event for event in events if event["event"] == "ready"]
        self.assertEqual((ready["engine"], ready["why_not_native"]), ("interpreter", "no class of the policy set lets anything out, so nothing is asked often"))
        self.assertEqual(events[-1]["verdict"], "clean")
        self.assertEqual("".join(e["data"] for e in events if e["event"] == "output"), "hello\n")

    def test_native_code_is_made_once_for_a_policy_set(self):
        self.policies.append(self.write("reach.curfew", REACH))
        opened = []
        for run in range(3):
            if run == 2:  # what was kept is damaged
                name, = os.listdir(os.path.join(self.state, "native_code"))
                with open(os.path.join(self.state, "native_code", name), "r+b") as kept:
                    kept.seek(200)
                    kept.write(b"\0" * 64)
            shutil.rmtree(self.out, ignore_errors=True)
            log = os.path.join(self.folder, f"opened.{run}")
            done = self.run_task(self.task([self.python("print('hello')")]), "--format", "json",
                                 environment={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log})
            self.assertEqual(done.returncode, 0, done.stderr)
            ready, = [event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "ready"]
            self.assertEqual(ready["engine"], "native")
            logs = [name for name in os.listdir(self.folder) if name.startswith(f"opened.{run}.")]
            self.assertTrue(logs)
            opened.append(any("libLLVM" in scan.read(os.path.join(self.folder, name)) for name in logs))
        self.assertEqual(opened, [True, False, True], "runs that loaded the compiler")
        self.assert_over(count=3)

    def test_without_a_compiler_of_native_code_the_interpreter_decides_and_it_is_said(self):
        self.policies.append(self.write("reach.curfew", REACH))
        library = os.path.join(os.path.dirname(rig.PROGRAM), "libcurfew_jit.so")
        hidden = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                  f'mount --bind /dev/null {library} && exec "$@"', "sh"]
        done = subprocess.run(hidden + self.arguments(self.task([self.python("print('hello')")])),
                              capture_output=True, text=True, timeout=rig.PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)
        self.assertIn("the interpreter decides", done.stderr)
        self.assertIn("libcurfew_jit.so", done.stderr)
        self.assert_over(reason="done")

    def test_on_a_host_without_pages_for_code_the_interpreter_decides_and_it_is_said(self):
        self.policies.append(self.write("reach.curfew", REACH))
        refusing = ["python3", os.path.join(rig.ROOT, "tests", "fakes", "refuse_code_pages.py")]
        done = subprocess.run(refusing + self.arguments(self.task([self.python("print('hello')")])),
                              capture_output=True, text=True, timeout=rig.PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)
        self.assertIn("the interpreter decides", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        self.assert_over(reason="done")


class Bulk(rig.EndToEnd):
    def test_a_loud_task_grows_no_memory_and_loses_nothing(self):
        task = self.task([self.python("import sys\nfor i in range(1024): sys.stdout.write('x' * 65536)")])
        process = subprocess.Popen(self.arguments(task, "--quiet"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.eventually(lambda: self.keeper() is not None, "no keeper came")
        keeper = self.keeper()
        size, peak = 0, 0
        while chunk := process.stdout.read(1 << 20):
            size += len(chunk)
            status = scan.read(f"/proc/{keeper}/status")
            for line in status.splitlines():
                if line.startswith("VmRSS"):
                    peak = max(peak, int(line.split()[1]))
        process.communicate(timeout=rig.PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(size, 64 << 20)
        self.assertLess(peak, 64 << 10, "KiB of the keeper while 64 MiB passed through it")
        self.assert_over()

    def keeper(self):
        if not os.path.exists(os.path.join(self.state, "curfew.db")):
            return None
        return next((s["keeper_pid"] for s in self.sandboxes() if s.get("keeper_pid")), None)

    def test_exports_are_judged_file_by_file_and_links_stay(self):
        done = self.run_task(self.task([self.python(
            "import os\nos.makedirs('/work/out/deep')\n"
            "open('/work/out/deep/a.bin', 'wb').write(bytes(range(256)) * 400)\n"
            "open('/work/out/large.bin', 'wb').write(b'x' * (5 << 20))\n"
            "os.symlink('/etc/passwd', '/work/out/link')\n"
            "open('/work/secret', 'w').write('no')\n")], export=["/work/out/**", "/work/secret"]))
        self.assertNotEqual(done.returncode, 0)
        with open(os.path.join(self.out, "deep", "a.bin"), "rb") as file:
            self.assertEqual(file.read(), bytes(range(256)) * 400)
        left = sorted(os.path.relpath(os.path.join(folder, name), self.out)
                      for folder, _, names in os.walk(self.out) for name in names)
        self.assertEqual(left, ["deep/a.bin"])
        # What cannot leave is refused, and counted so: the link, the large one, the secret.
        self.assertIn("only plain files can leave", done.stderr)
        sandbox, = self.assert_over()
        self.assertIn("decisions  3 allowed, 3 denied", self.receipt(sandbox))


class Interrupt(rig.EndToEnd):
    def test_once_closes_in_order(self):
        process = self.start(self.task([self.python("import time; print('began', flush=True); time.sleep(300)")]))
        self.wait_for("began", process)
        self.kill(process.pid, signal.SIGINT)
        said = self.finish(process)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("verdict    clean", said)
        self.assert_over(reason="interrupted")

    def test_while_it_boots(self):
        process = self.start(self.task([self.python("print('unreached')")]))
        self.wait_for("encrypted disk", process)
        self.kill(process.pid, signal.SIGINT)
        said = self.finish(process)
        self.assertEqual(process.returncode, 130, said)
        self.assertNotIn("unreached", said)
        self.assert_over(reason="interrupted")


if __name__ == "__main__":
    rig.main()
