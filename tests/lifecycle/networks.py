"""Looks into every network namespace of this host, without any of Curfew's own code: links, taps that somebody holds,
and packet tables. Speaks netlink itself, so that no library is shared with runtime/network either.
"""
import ctypes
import os
import re
import socket
import struct

CLONE_NEWNET = 0x40000000
NETLINK_ROUTE, NETLINK_NETFILTER = 0, 12
RTM_GETLINK = 18
NFT_MSG_GETTABLE = (10 << 8) | 1
REQUEST_DUMP = 0x1 | 0x300
DONE, ERROR = 3, 2


def dump(family, kind, head):
    """The attributes of each object that a dump lists."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as conversation:
        conversation.send(struct.pack("=IHHII", 16 + len(head), kind, REQUEST_DUMP, 1, 0) + head)
        while True:
            packet = conversation.recv(1 << 20)
            while packet:
                size, what, _, _, _ = struct.unpack_from("=IHHII", packet)
                if what == ERROR:
                    raise OSError(-struct.unpack_from("=i", packet, 16)[0], "netlink")
                if what == DONE:
                    return
                yield attributes(packet[16 + len(head):size])
                packet = packet[(size + 3) & ~3:]


def attributes(data):
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:size]
        data = data[(size + 3) & ~3:]
    return found


def text(value):
    return (value or b"").rstrip(b"\0").decode("utf-8", "replace")


def seen_from_within():
    """(links, tables) of the namespace of this process; a link is its name and its alias."""
    links = [(text(one.get(3)), text(one.get(20))) for one in dump(NETLINK_ROUTE, RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0))]
    tables = [text(one.get(1)) for one in dump(NETLINK_NETFILTER, NFT_MSG_GETTABLE, struct.pack("=BBH", 0, 0, 0))]
    return links, tables


def look(path):
    """What is in the namespace at `path`, seen by a child that enters it; nothing where it is gone."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(os.open(path, os.O_RDONLY), CLONE_NEWNET) == 0:
                os.write(writable, repr(seen_from_within()).encode())
                status = 0
        except FileNotFoundError:
            status = 2
        finally:
            os._exit(status)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 2:
        return [], []
    if status != 0:
        raise RuntimeError(f"the network namespace {path} cannot be seen")
    return eval(said, {"__builtins__": {}})  # what repr of texts and lists wrote


def links_to(folder):
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield name, f"{folder}/{name}", os.readlink(f"{folder}/{name}")
        except OSError:
            continue


def namespaces():
    """One path for each network namespace that a process, a thread, a descriptor or a mount has."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        root = f"/proc/{pid}"
        try:
            threads = os.listdir(f"{root}/task")
        except OSError:
            continue
        for thread in threads:
            for name, path, target in links_to(f"{root}/task/{thread}/ns"):
                if name == "net":
                    found.setdefault(target, path)
        for _, path, target in links_to(f"{root}/fd"):
            if target.startswith("net:["):
                found.setdefault(target, path)
        try:
            with open(f"{root}/mountinfo", encoding="utf-8", errors="replace") as mounts:
                for line in mounts:
                    words = line.split()
                    if words[3].startswith("net:["):
                        found.setdefault(words[3], f"{root}/root{words[4]}")
        except OSError:
            continue
    return found


def held_taps():
    """(name, pid) of each tap that a descriptor holds, wherever it is."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for number, _, target in links_to(f"/proc/{pid}/fd"):
            if target != "/dev/net/tun":
                continue
            try:
                with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as info:
                    named = re.search(r"^iff:\t(.+)$", info.read(), re.M)
            except OSError:
                continue
            if named:
                yield named.group(1), pid


def traces(sandbox):
    """(class, identity) of everything of the sandbox in any network namespace."""
    tap = sandbox[:15]
    found = {("tap", f"{name} of process {pid}") for name, pid in held_taps() if name == tap}
    for name, path in namespaces().items():
        links, tables = look(path)
        own = {("tap", f"{link} in {name}") for link, alias in links if link == tap or sandbox in alias}
        own |= {("nft-table", f"{table} in {name}") for table in tables if sandbox in table}
        if own:
            found |= own | {("network-namespace", name)}
    return found
