"""Leaves behind a token file, a server, and a daemon that ignores SIGTERM and goes on asking the network."""
import os
import signal
import socket
import sys
import time
import urllib.request

if not os.path.exists("/run/curfew/identity.json"):
    sys.exit("this leaves processes and a token file behind: it is meant for the inside of a sandbox")

with open(os.path.expanduser("~/.git-credentials"), "w") as file:
    file.write("http://ana:not-a-real-token@source.example\n")


def daemon(work):
    """Belongs to nobody who waits here: a child of a child, in a session of its own."""
    if os.fork():
        return os.wait()
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    work()


def serve():
    with socket.create_server(("", 8000)) as server:
        while True:
            server.accept()[0].close()


def ask():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            urllib.request.urlopen("http://api.example/v1/status", timeout=5).read()
        except OSError:
            pass
        time.sleep(1)


daemon(serve)
daemon(ask)
for _ in range(100):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8000)) == 0:
            print("A token in ~/.git-credentials, a server on port 8000, a daemon that will not go: all still here.")
            sys.exit(0)
    time.sleep(0.1)
sys.exit("the server did not come up")
