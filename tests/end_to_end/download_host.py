"""A host for tests of the network: the name server and the address of the example, and a download that never ends.

Started with `unshare --net`, as the example's hosts are. Prints `ready` when it listens, ends with its standard input.
"""
import http.server
import os
import socketserver
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples", "02-install-and-reach", "hosts"))
import serve

serve.NAMES = {"stream.example", "files.example"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        if self.path != "/endless":
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"hello\n")
            return
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 1000)
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


serve.bring_up()
for server in (http.server.ThreadingHTTPServer((serve.ADDRESS, 80), Handler),
               socketserver.ThreadingUDPServer((serve.ADDRESS, 53), serve.NameServer)):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
