"""Runs a command as a host would that lets nothing be code but programs and their libraries: a memory file that is mapped
executable is refused (EACCES), as under SELinux without execmem, or a kernel that makes every memory file plain data.

Arguments: the command. QEMU's translator needs no file for its code, so a machine still boots.
"""
import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
MMAP, AUDIT_ARCH_X86_64 = 9, 0xC000003E
PROT_EXEC, MAP_FIXED, MAP_ANONYMOUS, MAP_DENYWRITE = 0x4, 0x10, 0x20, 0x800
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 13
LOAD, EQUAL, ANY_OF, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, ARCH, PROTECTION, FLAGS = 0, 4, 16 + 2 * 8, 16 + 3 * 8  # in struct seccomp_data; the low halves

# Each: code, jump if so, jump if not, operand. What the loader maps is fixed in its place or says that nobody writes it.
FILTER = [
    (LOAD, 0, 0, ARCH), (EQUAL, 0, 6, AUDIT_ARCH_X86_64),
    (LOAD, 0, 0, NUMBER), (EQUAL, 0, 4, MMAP),
    (LOAD, 0, 0, PROTECTION), (ANY_OF, 0, 2, PROT_EXEC),
    (LOAD, 0, 0, FLAGS), (ANY_OF, 0, 1, MAP_FIXED | MAP_ANONYMOUS | MAP_DENYWRITE),
    (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE),
]


def refuse():
    code = b"".join(struct.pack("=HBBI", *step) for step in FILTER)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(FILTER), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) != 0:
        raise OSError(ctypes.get_errno(), "install a filter of system calls")


if __name__ == "__main__":
    refuse()
    os.execvp(sys.argv[1], sys.argv[1:])
