"""What a person gets wrong, and what a host lacks: one clear error, the right status, nothing left behind."""
import json
import os
import shutil
import stat
import subprocess
import unittest

import rig
import scan

QEMU = "/usr/bin/qemu-system-x86_64"
FALSE_QEMU = """#!/bin/sh
case "$*" in *--version*|*-version*|*help*) exec REAL "$@" ;; esac
BODY
"""


class BadInput(rig.EndToEnd):
    def refused(self, done, *words, status=125):
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, said)
        for word in words:
            self.assertIn(word, said)

    def nothing_began(self):
        self.assertEqual(self.sandboxes(), [])

    def test_policies(self):
        task = self.task([])
        for name, content, word in (("empty.curfew", b"", "language"),
                                    ("binary.curfew", bytes(range(256)), ""),
                                    ("half.curfew", rig.POLICY[:200].encode(), ""),
                                    ("huge.curfew", b"#" * (17 << 20), "")):
            with self.subTest(name):
                path = os.path.join(self.folder, name)
                with open(path, "wb") as file:
                    file.write(content)
                self.policies[0] = path
                self.refused(self.run_task(task), name)
        self.policies[0] = os.path.join(self.folder, "nowhere.curfew")
        self.refused(self.run_task(task), "nowhere.curfew")
        self.nothing_began()

    def test_tasks(self):
        self.refused(self.run_task(os.path.join(self.folder, "nowhere.json")), "nowhere.json")
        for text, word in (("", "task.json"), ("{", "task.json"), ("[]", "an object"),
                           ('{"version": 1, "version": 1}', "version"), ('{"version": 2}', "/version")):
            with self.subTest(text):
                self.refused(self.run_task(self.write("task.json", text)), word)
        with open(self.task([])) as file:
            task = json.load(file)
        task["comands"] = task.pop("commands")
        self.refused(self.run_task(self.write("task.json", json.dumps(task))), "commands", "comands")
        for name in ("../policy.curfew", "/etc/passwd", "missing.py"):
            with self.subTest(name):
                self.refused(self.run_task(self.task([{"run": ["python3", "-"], "stdin": name}])), name)
        os.symlink("/etc/passwd", os.path.join(self.folder, "link.py"))
        self.refused(self.run_task(self.task([{"run": ["python3", "-"], "stdin": "link.py"}])), "no link")
        self.nothing_began()

    def test_what_only_a_booted_machine_would_have_noticed(self):
        for command, *words in (({"run": []}, "/commands/0/run"),
                                ({"run": ["a\0b"]}, "/commands/0/run", "NUL"),
                                ({"run": ["true"], "cwd": "work"}, "/commands/0/cwd"),
                                ({"run": ["true"], "env": {"LD_PRELOAD": "x.so"}}, "/commands/0/env", "reserved"),
                                ({"run": ["true"], "env": {"A": "b\0c"}}, "/commands/0/env", "NUL")):
            with self.subTest(command):
                self.refused(self.run_task(self.task([command])), "task.json", *words)
        with open(self.task([])) as file:
            task = json.load(file)
        for pattern in ("/work/../etc/**", "work/out/**", "/work/\0"):
            with self.subTest(pattern):
                task["export"] = [pattern]
                self.refused(self.run_task(self.write("task.json", json.dumps(task))), "/export")
        self.nothing_began()

    def test_a_folder_for_exports_that_cannot_take_them(self):
        task = self.task([])
        os.mkdir(self.out)
        self.write("out/from-before", "kept")
        self.refused(self.run_task(task), "--out", "not empty")
        self.out = os.path.join(self.folder, "nowhere", "out")
        self.refused(self.run_task(task), "--out", "make it first")
        self.out = self.write("plain", "")
        self.refused(self.run_task(task), self.out)
        self.nothing_began()

    def test_no_wish_is_for_nothing(self):
        for wish in ({"cpu": 0}, {"ttl": "0s"}, {"memory": "0B"}, {"ttl": ""}):
            with self.subTest(wish):
                name, = wish
                self.refused(self.run_task(self.task([], create={"image": "python311", **wish})),
                             "request.invalid", "/create/" + name, status=126)

    def test_images(self):
        task = self.task([])
        self.image = os.path.join(self.folder, "nowhere")
        self.refused(self.run_task(task), "nowhere", "--image")
        self.image = os.path.join(self.folder, "image")
        os.mkdir(self.image)
        self.refused(self.run_task(task))
        for name in os.listdir(rig.IMAGE):
            source = os.path.join(rig.IMAGE, name)
            if os.path.isfile(source):
                shutil.copy(source, self.image)
        with open(os.path.join(self.image, "initrd.cpio"), "r+b") as file:
            file.seek(1000)
            file.write(b"\xff")
        self.refused(self.run_task(task), "initrd.cpio")
        self.assert_over(count=2)

    def test_an_image_that_policy_does_not_allow(self):
        self.refused(self.run_task(self.task([], create={"image": "debian"})), "debian", "python311")
        other = "sha256:" + "0" * 64
        self.refused(self.run_task(self.task([], create={"image": other})), status=126)

    def test_without_root(self):
        def drop():
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
        os.chmod(self.folder, 0o755)
        done = subprocess.run(self.arguments(self.task([])), capture_output=True, text=True, preexec_fn=drop)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertTrue("root" in done.stderr or "ermission" in done.stderr, done.stderr)
        self.nothing_began()

    def with_qemu(self, body, mode=0o755):
        """The words before a command that runs it on a host whose QEMU is this script."""
        os.chmod(self.folder, 0o755)
        real = self.write("real-qemu", "")
        false = self.write("false-qemu", FALSE_QEMU.replace("REAL", real).replace("BODY", body))
        os.chmod(false, mode)
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                f'mount --bind {QEMU} {real} && mount --bind {false} {QEMU} && exec "$@"', "sh"]

    def run_on(self, before, arguments):
        return subprocess.run(before + arguments, capture_output=True, text=True, timeout=rig.PATIENCE)

    def test_qemu_is_absent(self):
        without = self.with_qemu("", mode=0o644)
        done = self.run_on(without, self.arguments(self.task([])))
        self.refused(done, "builtin.unsupported", status=126)
        doctor = self.run_on(without, [rig.PROGRAM, "doctor"])
        self.assertEqual(doctor.returncode, 2, doctor.stdout)
        self.assertIn("MISSING  qemu", doctor.stdout)
        self.assert_over()

    def test_qemu_dies_at_its_start(self):
        before = self.with_qemu("echo 'no such machine' >&2; exit 3")
        self.refused(self.run_on(before, self.arguments(self.task([]))), "no such machine")
        self.assert_over(reason="failed")

    def test_the_guest_never_answers(self):
        before = self.with_qemu("exec sleep 600")
        self.refused(self.run_on(before, self.arguments(self.task([]))), "the guest did not come up")
        self.assert_over(reason="failed")


class FullDisk(rig.EndToEnd):
    """The state directory on a small file system, with ever less room."""

    def setUp(self):
        super().setUp()
        self.mount = os.path.join(self.folder, "small")
        os.mkdir(self.mount)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", self.mount], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.mount], check=True)
        self.state = os.path.join(self.mount, "state")
        self.assertEqual(self.curfew("ps").returncode, 0)

    def test_any_room_left(self):
        task = self.task([self.python("print('ran')")])
        for room in (0, 64 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20):
            with self.subTest(room=room):
                self.fill(room)
                done = self.run_task(task)
                self.unfill()
                self.assertIn(done.returncode, (0, 125), done.stderr)
                if done.returncode == 125:
                    said = (done.stdout + done.stderr).lower()
                    self.assertTrue("space" in said or "full" in said or "disk" in said, said)
                for sandbox in self.sandboxes():
                    self.assertEqual(sandbox["state"], "closed")
                    self.assertEqual(self.curfew("receipt", "verify", sandbox["sandbox"]).returncode, 0)
                    self.assertEqual(scan.residue(sandbox["sandbox"], self.state), [])

    def fill(self, room):
        free = os.statvfs(self.mount)
        size = free.f_bavail * free.f_frsize - room
        with open(os.path.join(self.mount, "ballast"), "wb") as file:
            while size > 0:
                try:
                    size -= file.write(b"\0" * min(size, 1 << 20))
                    file.flush()
                except OSError:
                    break

    def unfill(self):
        os.remove(os.path.join(self.mount, "ballast"))


if __name__ == "__main__":
    rig.main()
