"""What a sandbox with a network does on a real guest, as a person meets it: the example, a reload, and every end."""
import json
import os
import subprocess
import unittest

import rig
import scan

EXAMPLE = os.path.join(rig.ROOT, "examples", "02-install-and-reach")
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "download_host.py")
RESOLVER = "203.0.113.10:53"

POLICY = rig.POLICY.replace("  lifetime {", """  network {
    files:  allow GET "http://files.example/**"
    stream: allow GET "http://stream.example/**"
  }
  lifetime {""")
TIGHTER = POLICY.replace('    stream: allow GET "http://stream.example/**"\n', "")
WITHOUT_CLASS = POLICY.replace("sandbox work when", "sandbox other when")

DOWNLOAD = """import urllib.request
got = 0
with urllib.request.urlopen("http://stream.example/endless") as answer:
    print("the download began", flush=True)
    try:
        while chunk := answer.read1(1000):
            got += len(chunk)
    except OSError as error:
        pass
print("the download was cut" if got else "nothing came", flush=True)
"""
AFTER = """import urllib.error, urllib.request
print(urllib.request.urlopen("http://files.example/hello").read().decode().strip())
try:
    urllib.request.urlopen("http://stream.example/endless")
except urllib.error.HTTPError as refusal:
    print(refusal.code)
"""
INSIST = """import http.client
refused = 0
connection = http.client.HTTPConnection("files.example")
for _ in range(300):
    connection.request("POST", "/hello")
    answer = connection.getresponse()
    answer.read()
    refused += answer.status == 403
print(refused)
"""


class Example(rig.EndToEnd):
    def test_a_task_installs_clones_and_is_refused(self):
        self.policies[0] = os.path.join(EXAMPLE, "install-and-reach.curfew")
        arguments = [os.path.join(EXAMPLE, "hosts", "with_hosts"),
                     *self.arguments(os.path.join(EXAMPLE, "task.json"), "--dial-from", "@NAMESPACE",
                                     "--resolver", "@RESOLVER")]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=2 * rig.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(self.out, "words.json"), "rb") as got, \
                open(os.path.join(EXAMPLE, "expected", "words.json"), "rb") as expected:
            self.assertEqual(got.read(), expected.read())
        # Inside: the answer names rule, reason, file and line, and so does the file of refusals.
        before, after = done.stdout.split("and in /run/curfew/denials:")
        for text in (before, after):
            self.assertRegex(text, r"http://elsewhere\.example/")
            self.assertRegex(text, r"integration\.network\.default \(\S*install-and-reach\.curfew:\d+\)")
            self.assertRegex(text, r"integration\.network\.plans \(\S*install-and-reach\.curfew:\d+\): plans are for people")
        sandbox, = self.assert_over(reason="done")
        receipt = self.receipt(sandbox)
        for line in (r"reached ", r"http://packages\.example:80  2 requests", r"http://source\.example:80  ",
                     # What the task left behind may ask once more while the gateway closes.
                     r"refused    (3 requests|4 requests(.*\n)+?.*by gateway\.closing)",
                     r"http://elsewhere\.example:80  1 request.*integration\.network\.default",
                     r"http://source\.example:80  1 request.*integration\.network\.plans",
                     r"killed     pid \d+ python3 -", r"destroyed  gateway ", r"destroyed  network-namespace ",
                     r"destroyed  tap ", r"destroyed  nft-table inet ", r"destroyed  token ", r"verdict    clean"):
            self.assertRegex(receipt, line)
        self.check_audit(sandbox["sandbox"])

    def check_audit(self, sandbox):
        shown = self.curfew("audit", sandbox, "--format", "json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        flows = [json.loads(line) for line in shown.stdout.splitlines()]
        wheel, = [flow for flow in flows if flow["path"].endswith(".whl")]
        self.assertTrue(wheel["allowed"])
        self.assertEqual(wheel["rules"][0]["id"], "integration.network.packages")
        self.assertEqual((wheel["status"], wheel["bytes_out"]), (200, 0))
        self.assertGreater(wheel["bytes_in"], 500)
        self.assertGreaterEqual(wheel["started_ms"], flows[0]["started_ms"])
        denied = self.curfew("audit", sandbox, "--denied")
        self.assertEqual(denied.returncode, 0, denied.stderr)
        self.assertEqual(denied.stdout.count("DENY"), 3, denied.stdout)
        self.assertNotIn("allow  ", denied.stdout)
        self.assertIn("POST http://api.example:80/v1/status", denied.stdout)
        # One flipped byte: nothing of it is shown.
        records = os.path.join(self.state, "sandboxes", sandbox, "records")
        with open(records, "r+b") as file:
            file.seek(os.path.getsize(records) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        refused = self.curfew("audit", sandbox)
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertEqual(refused.stdout, "")
        self.assertIn("does not hold", refused.stderr)


class Flows(rig.EndToEnd):
    def setUp(self):
        super().setUp()
        self.policies[0] = self.write("policy.curfew", POLICY)
        self.host = subprocess.Popen(["unshare", "--net", "python3", HOST], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_host)
        self.assertEqual(self.host.stdout.readline(), "ready\n")

    def end_host(self):
        self.host.communicate(timeout=60)

    def download(self, *more):
        return self.start(self.task([self.python(DOWNLOAD), *more]), "--dial-from", f"/proc/{self.host.pid}/ns/net",
                          "--resolver", RESOLVER)

    def reload(self, text, *more):
        return self.curfew("reload", self.write("next.curfew", text), self.policies[1], *more)

    def test_a_reload_cuts_what_it_denies_and_a_broken_one_changes_nothing(self):
        process = self.download(self.python(AFTER))
        self.wait_for("the download began", process)
        sandbox = self.sandboxes()[0]["sandbox"]

        broken = self.reload(POLICY.replace("allow GET", "alow GET", 1))
        self.assertEqual(broken.returncode, 3, broken.stdout + broken.stderr)
        self.assertIn("stay in force", broken.stderr)
        same = self.reload(POLICY)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn(f"{sandbox}  generation 2, 0 flows cut", same.stdout)
        live = self.curfew("audit", sandbox)
        self.assertEqual(live.returncode, 0, live.stderr)
        self.assertIn("no receipt binds them yet", live.stderr)

        tighter = self.reload(TIGHTER, "--sandbox", sandbox, "--format", "json")
        self.assertEqual(tighter.returncode, 0, tighter.stderr)
        answer = json.loads(tighter.stdout)
        self.assertEqual((answer["generation"], answer["flows_cut"], answer["engine"]), (3, 1, "native"))
        said = self.finish(process)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("the download was cut", said)
        self.assertNotIn("the interpreter decides", said)
        self.assertRegex(said, r"hello\n403\n")
        self.assert_over(reason="done")
        denied = self.curfew("audit", sandbox, "--denied", "--format", "json")
        cut, refused = [json.loads(line) for line in denied.stdout.splitlines()]
        self.assertEqual((cut["host"], cut["end"], cut["generation"]), ("stream.example", "cut", 3))
        self.assertGreater(cut["bytes_in"], 0)
        self.assertEqual(refused["status"], 403)
        receipt = self.receipt({"sandbox": sandbox})
        self.assertIn("generation 3", receipt)

    def test_a_class_that_a_reload_removes_closes_its_sandboxes(self):
        process = self.download()
        self.wait_for("the download began", process)
        reloaded = self.reload(WITHOUT_CLASS)
        self.assertEqual(reloaded.returncode, 0, reloaded.stderr)
        self.assertIn("1 flow cut; its class is gone", reloaded.stdout)
        said = self.finish(process)
        self.assertEqual(process.returncode, 126, said)
        self.assert_over(reason="class.gone")
        nothing = self.reload(POLICY)
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("no sandbox runs", nothing.stderr)

    def test_refusals_of_a_guest_that_insists_are_counted_together(self):
        process = self.start(self.task([self.python(INSIST)]), "--dial-from", f"/proc/{self.host.pid}/ns/net",
                             "--resolver", RESOLVER)
        said = self.finish(process)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("\n300\n", said)
        sandbox, = self.assert_over(reason="done")
        self.assertRegex(self.receipt(sandbox), r"http://files\.example:80  300 requests")
        shown = self.curfew("audit", sandbox["sandbox"], "--format", "json")
        flows = [json.loads(line) for line in shown.stdout.splitlines()]
        times = [flow.get("times", 1) for flow in flows]
        self.assertEqual((times[0], sum(times)), (1, 300))
        # Two for each five seconds: the first of a kind, and those like it.
        seconds = (flows[-1]["started_ms"] - flows[0]["started_ms"]) // 1000
        self.assertLessEqual(len(times), 2 * (seconds // 5 + 1))
        shown = self.curfew("audit", sandbox["sandbox"])
        self.assertRegex(shown.stdout, r", \d+ times, answered 403")
        self.assertIn("300 requests, 300 refused", shown.stderr)

    def test_a_keeper_that_dies_leaves_nothing_of_its_network(self):
        process = self.download()
        self.wait_for("the download began", process)
        sandbox = self.sandboxes()[0]
        self.assertTrue(scan.networks.traces(sandbox["sandbox"]))
        self.kill(sandbox["keeper_pid"])
        said = self.finish(process)
        self.assertEqual(process.returncode, 125, said)
        self.assert_over()
        self.assertIn("destroyed  network-namespace", self.receipt(sandbox))


if __name__ == "__main__":
    rig.main()
