"""What every end-to-end test uses: the programs of a build, a state directory of its own, and the check afterwards."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import scan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ["CURFEW_PROGRAM"]
IMAGE = os.environ["CURFEW_IMAGE_DIR"]
PATIENCE = 240  # seconds: a boot on a busy machine without KVM

POLICY = """language 1
package tests.end_to_end

sandbox work when task.kind == "work" {
  image {
    allow     python311
    exec      "/usr/bin/python3*", "/usr/bin/sleep"
    size      cpu 1, memory 256MiB at most 512MiB
    isolation any
  }
  identity { token audience "bridge" lives 10m }
  filesystem {
    scratch "/work" 64MiB
    export  "/work/out/**" at most 4MiB
  }
  lifetime {
    ttl   5m at most 10m
    idle  30s then close
    grace 1s
  }
}
"""


class EndToEnd(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.folder = tempfile.mkdtemp(prefix="curfew-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.state = os.path.join(self.folder, "state")
        self.out = os.path.join(self.folder, "out")
        self.image = IMAGE
        self.policies = [self.write("policy.curfew", POLICY), os.path.join(IMAGE, "images.curfew")]

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def task(self, commands, name="task.json", **more):
        task = {
            "version": 1,
            "id": "e2e",
            "owner": "user:root",
            "team": "tests",
            "kind": "work",
            "trigger": "human",
            "create": {"image": "python311"},
            "commands": commands,
        }
        task.update(more)
        return self.write(name, json.dumps(task))

    def python(self, source, **more):
        """A command that runs this Python source, which travels in as standard input."""
        self.scripts = getattr(self, "scripts", 0) + 1
        name = f"script-{self.scripts}.py"
        self.write(name, source)
        return {"run": ["python3", "-"], "stdin": name, **more}

    def arguments(self, task, *more):
        return [PROGRAM, "run", *self.policies, "--task", task, "--image", self.image, "--out", self.out,
                "--state", self.state, *more]

    def start(self, task, *more, environment=None):
        """A run in the background, with its output in pipes."""
        return subprocess.Popen(self.arguments(task, *more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env={**os.environ, **(environment or {})})

    def run_task(self, task, *more, environment=None):
        done = subprocess.run(self.arguments(task, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE, env={**os.environ, **(environment or {})})
        done.stdout = done.stdout.decode("utf-8", "replace")
        done.stderr = done.stderr.decode("utf-8", "replace")
        return done

    def curfew(self, *arguments):
        return subprocess.run([PROGRAM, *arguments, "--state", self.state], capture_output=True, text=True,
                              timeout=PATIENCE)

    def wait_for(self, what, process=None):
        """Reads a run's output until a line holds `what`; the lines so far."""
        lines = []
        for line in process.stdout:
            lines.append(line)
            if what in line:
                return "".join(lines)
        self.fail(f"the run ended before it said {what!r}:\n{''.join(lines)}")

    def finish(self, process):
        out, _ = process.communicate(timeout=PATIENCE)
        return out

    def sandboxes(self):
        listed = self.curfew("ps", "--all", "--format", "json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return json.loads(listed.stdout)["sandboxes"]

    def eventually(self, holds, message, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                self.fail(message)
            time.sleep(0.2)

    def assert_over(self, count=1, reason=None):
        """Every sandbox is closed with a valid and clean receipt, and the host agrees."""
        sandboxes = self.sandboxes()
        self.assertEqual(len(sandboxes), count, sandboxes)
        for sandbox in sandboxes:
            name = sandbox["sandbox"]
            self.assertEqual(sandbox["state"], "closed", sandbox)
            if reason:
                self.assertEqual(sandbox["close_reason"], reason)
            verified = self.curfew("receipt", "verify", name)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
            self.assertEqual(scan.residue(name, self.state), [])
        searched = self.curfew("residue")
        self.assertEqual(searched.returncode, 0, searched.stdout + searched.stderr)
        return sandboxes

    def receipt(self, sandbox):
        shown = self.curfew("receipt", "show", sandbox["sandbox"])
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return shown.stdout

    def kill(self, pid, number=signal.SIGKILL):
        os.kill(pid, number)


def main():
    unittest.main(verbosity=2)
