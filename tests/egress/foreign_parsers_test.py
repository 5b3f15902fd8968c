"""Class 9 of the threats: what the gateway passed on is read by servers that others wrote. Each must see exactly the
request that was judged: one, with its method, target, host and bytes of body.

The first argument is the program `egress_forwarded`. The servers are nginx, node and Python's own; none may be missing.
"""
import collections
import http.server
import os
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE = 60
Seen = collections.namedtuple("Seen", "method target host body")
END = Seen("GET", "/the/end", "end.example", 0)
END_RAW = b"GET /the/end HTTP/1.1\r\nHost: end.example\r\nConnection: close\r\n\r\n"

# The front reads a body, whatever its framing, and passes it on with its length; the back writes it down.
NGINX = """
daemon off; master_process off; pid {0}/nginx.pid; error_log stderr crit;
events {{ }}
http {{
  client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4;
  scgi_temp_path {0}/t5; access_log off; keepalive_requests 1000000; client_max_body_size 0;
  log_format seen escape=none "$request_method\t$request_uri\t$http_host\t$http_content_length";
  server {{
    listen unix:{0}/nginx;
    location / {{ proxy_pass http://unix:{0}/back:; proxy_http_version 1.1; proxy_set_header Host $http_host;
                 proxy_set_header Expect ""; proxy_set_header Connection ""; }}
  }}
  server {{ listen unix:{0}/back; access_log {0}/nginx.seen seen; location / {{ return 204; }} }}
}}
"""
NODE = """
const fs = require('fs'), file = fs.openSync(process.argv[1] + '.seen', 'a');
const say = (...parts) => fs.writeSync(file, parts.join('\\t') + '\\n');
const server = require('http').createServer((request, response) => {
  const hosts = request.rawHeaders.filter((name, i) => i % 2 == 0 && name.toLowerCase() == 'host').length;
  let body = 0;
  request.on('data', part => body += part.length);
  request.on('end', () => {
    say(request.method, request.url, hosts == 1 ? request.headers.host : hosts + ' hosts', body);
    response.writeHead(204);
    response.end();
  });
});
server.on('clientError', (error, socket) => { say('refused', error.code, '', ''); socket.destroy(); });
server.listen(process.argv[1]);
"""


class Plain(http.server.BaseHTTPRequestHandler):
    """Python's reading of heads; chunks it leaves to us."""
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.take
        raise AttributeError(name)

    def take(self):
        if self.headers.get_all("Transfer-Encoding"):
            size = self.read_chunks()
        else:
            size = len(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        hosts = self.headers.get_all("Host")
        self.server.seen.append(Seen(self.command, self.path, ", ".join(hosts), size))
        self.send_response(204)
        self.end_headers()

    def read_chunks(self):
        size = 0
        while length := int(self.rfile.readline().split(b";")[0], 16):
            size += len(self.rfile.read(length))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return size

    def send_error(self, code, message=None, explain=None):
        self.server.seen.append(Seen("refused", str(code), "", 0))
        self.close_connection = True

    def log_message(self, *_):
        pass


class PlainServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("guest", 0)


class Parsers:
    """The servers, each at a socket of its own below `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.plain = PlainServer(os.path.join(folder, "python"), Plain)
        self.plain.seen = []
        threading.Thread(target=self.plain.serve_forever, daemon=True).start()
        config = os.path.join(folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(NGINX.format(folder))
        self.start("nginx", ["-p", folder, "-e", "stderr", "-c", config], os.path.join(folder, "back"))
        self.start("node", ["-e", NODE, os.path.join(folder, "node")])
        self.names = ("nginx", "node", "python")

    def start(self, name, arguments, also=None):
        program = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
        if program is None:
            raise AssertionError(f"{name} is not installed: ./bootstrap lists it")
        self.processes.append(subprocess.Popen([program, *arguments]))
        for path in filter(None, (os.path.join(self.folder, name), also)):
            until = time.monotonic() + PATIENCE
            while not os.path.exists(path):
                if time.monotonic() > until or self.processes[-1].poll() is not None:
                    raise AssertionError(f"{name} does not start")
                time.sleep(0.02)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.plain.shutdown()
        self.plain.server_close()

    def read(self, name, raw):
        """What the server makes of these bytes, on a connection of their own, and of one request more behind them."""
        before = len(self.seen(name))
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(PATIENCE)
            stream.connect(os.path.join(self.folder, name))
            sender = threading.Thread(target=self.send, args=(stream, raw + END_RAW))
            sender.start()
            try:
                while stream.recv(65536):
                    pass
            except ConnectionError:
                pass
            sender.join()
        until = time.monotonic() + 5
        while time.monotonic() < until:
            seen = self.seen(name)[before:]
            if seen and (seen[-1] == END or seen[-1].method == "refused"):
                break
            time.sleep(0.005)
        return self.seen(name)[before:]

    @staticmethod
    def send(stream, raw):
        try:
            stream.sendall(raw)
        except OSError:
            pass  # it is not read to its end: what was seen says so

    def seen(self, name):
        if name == "python":
            return list(self.plain.seen)
        try:
            with open(os.path.join(self.folder, name + ".seen"), encoding="latin-1") as file:
                lines = file.read().split("\n")[:-1]
        except FileNotFoundError:
            return []
        return [Seen(method, target, host, int(body or "0"))
                for method, target, host, body in (line.split("\t") for line in lines)]


class ForeignParsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.parsers = Parsers(cls.folder.name)
        cls.addClassCleanup(cls.parsers.stop)
        asked = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=600)
        if asked.returncode != 0:
            raise AssertionError(asked.stderr)
        cls.passed = []
        for line in asked.stdout.splitlines():
            method, target, host, body, raw = line.split("\t")
            cls.passed.append((Seen(method, target, host, int(body)), bytes.fromhex(raw)))

    def test_each_request_that_passed_is_the_one_that_was_judged(self):
        self.assertGreater(len(self.passed), 25)
        for judged, raw in self.passed:
            for name in self.parsers.names:
                with self.subTest(parser=name, raw=raw[:300]):
                    self.assertEqual(self.parsers.read(name, raw), [judged, END])

    def test_all_of_them_on_one_connection_are_as_many(self):
        everything = b"".join(raw for _, raw in self.passed)
        for name in self.parsers.names:
            with self.subTest(parser=name):
                self.assertEqual(self.parsers.read(name, everything), [judged for judged, _ in self.passed] + [END])

    def test_a_request_that_hides_in_another_would_be_seen(self):
        hidden = b"GET /hidden HTTP/1.1\r\nHost: files.example\r\n\r\n"
        for head, outer in ((b"POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 2\r\n\r\nhi", 2),
                            (b"POST /in/x HTTP/1.1\r\nHost: files.example\r\nTransfer-Encoding: chunked\r\n\r\n"
                             b"2\r\nhi\r\n0\r\n\r\n", 2)):
            for name in self.parsers.names:
                with self.subTest(parser=name, head=head):
                    self.assertEqual(self.parsers.read(name, head + hidden),
                                     [Seen("POST", "/in/x", "files.example", outer),
                                      Seen("GET", "/hidden", "files.example", 0), END])

    def test_what_they_read_in_different_ways_is_told_apart(self):
        """Were it passed on as it came: it is not, and this is why."""
        raw = (b"POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"2\r\nhi\r\n0\r\n\r\n")
        readings = {tuple(self.parsers.read(name, raw)) for name in self.parsers.names}
        self.assertGreater(len(readings), 1)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
