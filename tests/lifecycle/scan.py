#!/usr/bin/env python3
"""Searches this host for traces of a sandbox, independently of Curfew's own search.

Used by tests alone: it shares neither code nor language with runtime/evidence/residue.cpp, so that a blind spot
of one is seen by the other. Prints one line a finding, `class<TAB>identity`.

    scan.py SANDBOX_ID [--uid N] [--allow PATH]...     exit 0: none, 2: some, 1: could not look
"""
import argparse
import os
import sys

import networks


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes(needle, uid, found):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        root = f"/proc/{pid}"
        if int(pid) in (os.getpid(), os.getppid()):
            continue
        if needle in read(f"{root}/cgroup") or needle in read(f"{root}/cmdline") or needle in read(f"{root}/environ"):
            found.add(("process", pid))
        for line in read(f"{root}/status").splitlines():
            if uid is not None and line.startswith(b"Uid:") and str(uid).encode() in line.split()[1:]:
                found.add(("process", pid))
        try:
            descriptors = os.listdir(f"{root}/fd")
        except OSError:
            descriptors = []
        for descriptor in descriptors:
            try:
                target = os.readlink(f"{root}/fd/{descriptor}")
            except OSError:
                continue
            if needle.decode() in target:
                found.add(("deleted-file" if target.endswith(" (deleted)") else "process", target))
        for line in read(f"{root}/maps").splitlines():
            if needle in line:
                found.add(("deleted-file", line.split(maxsplit=5)[-1].decode(errors="replace")))
        for line in read(f"{root}/mountinfo").splitlines():
            if needle in line:
                found.add(("mount", line.split()[4].decode(errors="replace")))
        for line in read(f"{root}/net/unix").splitlines():
            if needle in line:
                found.add(("socket", line.split()[-1].decode(errors="replace")))


def names(needle, uid, allowed, found):
    # Deeper than Curfew's own search goes.
    for top in ("/tmp", "/var/tmp", "/run", "/dev/shm"):
        for root, directories, files in os.walk(top):
            if root[len(top):].count("/") >= 4:
                directories.clear()
            for name in directories + files:
                path = os.path.join(root, name)
                if any(path == one or path.startswith(one + "/") for one in allowed):
                    continue
                try:
                    owner = os.lstat(path).st_uid
                except OSError:
                    continue
                if needle.decode() in name or owner == uid:
                    found.add(("file", path))
    for root, directories, _ in os.walk("/sys/fs/cgroup"):
        for name in directories:
            if needle.decode() in name:
                found.add(("cgroup", os.path.join(root, name)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("id")
    parser.add_argument("--uid", type=int)
    parser.add_argument("--allow", action="append", default=[])
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("scan.py: only root sees everything", file=sys.stderr)
        return 1
    needle = arguments.id.encode()
    found = set()
    processes(needle, arguments.uid, found)
    names(needle, arguments.uid, arguments.allow, found)
    for line in read("/proc/keys").splitlines():
        if needle in line:
            found.add(("key", line.decode(errors="replace")))
    found |= networks.traces(arguments.id)
    for kind, identity in sorted(found):
        print(f"{kind}\t{identity}")
    return 2 if found else 0


if __name__ == "__main__":
    sys.exit(main())
