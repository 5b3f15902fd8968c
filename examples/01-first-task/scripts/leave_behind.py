"""Leaves behind what careless work leaves behind: a token file, a server, and a daemon that will not go."""
import os
import signal
import socket
import sys
import time

if not os.path.exists("/run/curfew/identity.json"):
    sys.exit("this leaves processes and a token file behind: it is meant for the inside of a sandbox")

with open(os.path.expanduser("~/.pypirc"), "w") as file:
    file.write("[pypi]\nusername = __token__\npassword = pypi-not-a-real-token\n")


def leave(work):
    """Double fork: the child's child belongs to nobody who waits here."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            work()
        os._exit(0)
    os.wait()


def serve():
    server = socket.create_server(("127.0.0.1", 8000))
    while True:
        connection, _ = server.accept()
        connection.close()


def stay():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


leave(serve)
leave(stay)

for _ in range(100):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8000)) == 0:
            print("A token in ~/.pypirc, a server on port 8000, a daemon that ignores SIGTERM: all still here.")
            sys.exit(0)
    time.sleep(0.1)
sys.exit("the server did not come up")
