"""The hosts that this example reaches: a package index, a git server, an API, and the name server that knows them.

Started by with_hosts, inside a network namespace that has nothing else in it. Prints `ready` when all of it listens.
Usage: serve.py FOLDER, where FOLDER holds what is served (see build_content).
"""
import fcntl
import hashlib
import http.server
import io
import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import zipfile

ADDRESS = "203.0.113.10"  # RFC 5737: an address for documentation, which nothing outside answers to
NAMES = {"packages.example", "source.example", "api.example"}

LIBRARY = '''"""Counts words."""

def count(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
'''
NOTES = "the gate is asked and the gate answers\nwhat the gate does not allow the gate refuses\n"


def build_wheel():
    """A wheel is a zip archive with three files of metadata (PEP 427)."""
    info = "wordcount-1.0.dist-info"
    files = {
        "wordcount.py": LIBRARY,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: wordcount\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: example\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name, (2025, 1, 1, 0, 0, 0)), content)
    return archive.getvalue()


def build_repository(folder):
    """A bare repository as plain files, which is all that git needs to clone over HTTP."""
    work = os.path.join(folder, "notes")
    os.makedirs(work)
    with open(os.path.join(work, "notes.txt"), "w") as file:
        file.write(NOTES)
    author = ["-c", "user.name=Ana", "-c", "user.email=ana@example", "-c", "init.defaultBranch=main"]
    bare = os.path.join(folder, "notes.git")
    for arguments in (["init", "-q", work], ["-C", work, "add", "."], ["-C", work, "commit", "-qm", "Notes"],
                      ["clone", "-q", "--bare", work, bare], ["-C", bare, "update-server-info"]):
        subprocess.run(["git", *author, *arguments], check=True)


def build_content(folder):
    """Path by path, what each host serves."""
    wheel = build_wheel()
    name = "wordcount-1.0-py3-none-any.whl"
    link = f'<a href="/files/{name}#sha256={hashlib.sha256(wheel).hexdigest()}">{name}</a>'
    build_repository(folder)
    content = {
        "packages.example": {"/simple/wordcount/": link.encode(), f"/files/{name}": wheel},
        "source.example": {"/private/plans.git/info/refs": b"nobody should read this\n"},
        "api.example": {"/v1/status": b'{"status": "open"}\n'},
    }
    bare = os.path.join(folder, "notes.git")
    for parent, _, files in os.walk(bare):
        for file in files:
            path = os.path.join(parent, file)
            with open(path, "rb") as opened:
                content["source.example"]["/notes.git/" + os.path.relpath(path, bare)] = opened.read()
    return content


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    content = {}

    def do_GET(self):
        body = self.content.get(self.headers["Host"], {}).get(self.path.partition("?")[0])
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html" if self.path.startswith("/simple/") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body or b"")

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class NameServer(socketserver.BaseRequestHandler):
    """Answers A of the names above; every other question about them has no data, and no other name exists (RFC 1035)."""

    def handle(self):
        query, reply_socket = self.request
        position, labels = 12, []
        while query[position]:
            length = query[position]
            labels.append(query[position + 1:position + 1 + length].decode("ascii", "replace"))
            position += 1 + length
        question = query[12:position + 5]
        known = ".".join(labels).lower() in NAMES
        is_address = question[-4:] == struct.pack(">HH", 1, 1)
        answer = b""
        if known and is_address:
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton(ADDRESS)
        flags = 0x8580 if known else 0x8583
        header = query[:2] + struct.pack(">HHHHH", flags, 1, 1 if answer else 0, 0, 0)
        reply_socket.sendto(header + question + answer, self.client_address)


def bring_up():
    """Loopback, with the address beside its own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name, address in (("lo", "127.0.0.1"), ("lo:1", ADDRESS)):
            packed = struct.pack("16sHH4s8x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, 0x8916, packed)  # SIOCSIFADDR
            up = struct.pack("16sH14x", name.encode(), 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
            fcntl.ioctl(control, 0x8914, up)  # SIOCSIFFLAGS


def main():
    Handler.content = build_content(sys.argv[1])
    bring_up()
    servers = [http.server.ThreadingHTTPServer((ADDRESS, 80), Handler),
               socketserver.ThreadingUDPServer((ADDRESS, 53), NameServer)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()  # until whoever started this is gone


if __name__ == "__main__":
    main()
