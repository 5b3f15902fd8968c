"""An independent look at this host: what a sandbox left, found without any of Curfew's own code.

It shares nothing with runtime/evidence/residue.h on purpose: a fault there must not hide itself here.
"""
import os
import re
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lifecycle"))
import networks

PLACES = ["/tmp", "/var/tmp", "/run", "/dev/shm"]


def read(path, binary=False):
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data if binary else data.decode("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError, OSError):
        return b"" if binary else ""


def processes(sandbox):
    """Living processes whose command line, control group or open files name the sandbox."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        state = re.search(r"\) (\S)", read(f"/proc/{pid}/stat"))
        if not state or state.group(1) in "ZX":
            continue
        command = read(f"/proc/{pid}/cmdline", True).replace(b"\0", b" ").decode("utf-8", "replace")
        named = sandbox in command and any(word in command for word in ("qemu", "keeper", "watchdog"))
        grouped = f"curfew/{sandbox}" in read(f"/proc/{pid}/cgroup")
        holds = []
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{pid}/fd/{fd}")
                except OSError:
                    continue
                if sandbox in target:
                    holds.append(target)
        except OSError:
            pass
        if named or grouped or holds:
            found.append(f"process {pid}: {command} {holds}")
    return found


def cgroups(sandbox):
    return [
        f"cgroup {folder}/{name}"
        for folder, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if sandbox in name
    ]


def mounts(sandbox):
    return [f"mount {line}" for line in read("/proc/self/mountinfo").splitlines() if sandbox in line]


def sockets(sandbox):
    return [f"socket {line}" for line in read("/proc/net/unix").splitlines() if sandbox in line]


def files(sandbox, state):
    found = []
    for place in PLACES:
        for folder, names, plain in os.walk(place):
            if folder.count("/") > 4 or folder.startswith(state):
                names.clear()
                continue
            found += [f"file {folder}/{name}" for name in names + plain if sandbox in name]
    own = os.path.join(state, "sandboxes", sandbox)
    for name in os.listdir(own) if os.path.isdir(own) else []:
        if name not in ("records", "receipt.json", "superseded", "exports"):
            found.append(f"file {own}/{name}")
        elif name not in ("superseded", "exports") and not stat.S_ISREG(os.lstat(os.path.join(own, name)).st_mode):
            found.append(f"not a plain file {own}/{name}")
    return found


def residue(sandbox, state):
    """Everything that is left of the sandbox, as lines; an empty list is what a test wants."""
    wires = [f"{kind} {identity}" for kind, identity in sorted(networks.traces(sandbox))]
    return processes(sandbox) + cgroups(sandbox) + mounts(sandbox) + sockets(sandbox) + files(sandbox, state) + wires
