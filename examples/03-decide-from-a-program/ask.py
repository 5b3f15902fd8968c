"""Asks a policy set whether a request may leave: ask.py LIBRARY BUNDLE HOST.

Exit status 0 allowed, 2 denied, 1 could not ask.
"""
import ctypes
import json
import sys

OK, DENIALS, ALLOWS = 0, 0, 1


class Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 512)]


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.size).decode()


class Reason(ctypes.Structure):
    _fields_ = [("id", Text), ("message", Text), ("file", Text),
                ("line", ctypes.c_uint32), ("column", ctypes.c_uint32)]


class Curfew:
    """The functions of curfew.h that this program needs."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name in ("curfew_policy_free", "curfew_request_free", "curfew_verdict_free"):
            getattr(self.library, name).restype = None
            getattr(self.library, name).argtypes = [ctypes.c_void_p]
        self.library.curfew_verdict_reason_count.restype = ctypes.c_size_t
        self.library.curfew_verdict_reason_count.argtypes = [ctypes.c_void_p, ctypes.c_int]
        if self.library.curfew_abi_version() != 1:
            raise OSError("this program speaks ABI 1 of libcurfew")

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.library, name)(*arguments, ctypes.byref(error)) != OK:
            raise ValueError(error.message.decode())

    def open(self, bundle):
        policy = ctypes.c_void_p()
        self.call("curfew_policy_open", bundle, ctypes.c_size_t(len(bundle)), None, ctypes.byref(policy))
        return policy

    def decide(self, policy, document):
        """Whether it is allowed, and the reasons."""
        text = json.dumps(document).encode()
        request, verdict = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("curfew_request_read", policy, text, ctypes.c_size_t(len(text)), ctypes.byref(request))
        self.call("curfew_verdict_new", ctypes.byref(verdict))
        try:
            if self.library.curfew_decide(policy, request, verdict) != OK:
                raise ValueError("the request could not be decided")
            allowed = self.library.curfew_verdict_allows(verdict) == 1
            kind = ALLOWS if allowed else DENIALS
            reasons = []
            for index in range(self.library.curfew_verdict_reason_count(verdict, kind)):
                reason = Reason()
                self.library.curfew_verdict_reason(verdict, kind, ctypes.c_size_t(index), ctypes.byref(reason))
                reasons.append(str(reason.id))
            return allowed, reasons
        finally:
            self.library.curfew_verdict_free(verdict)
            self.library.curfew_request_free(request)


def main(library, bundle, host):
    curfew = Curfew(library)
    with open(bundle, "rb") as file:
        policy = curfew.open(file.read())
    allowed, reasons = curfew.decide(policy, {
        "version": 1, "action": "egress", "caller": {"id": "user:ana"},
        "task": {"owner": "user:ana", "kind": "work", "ticket": "T-7"},
        "sandbox": {"class": "work", "creator": "user:ana", "ttl_left": "30m", "idle": "0s"},
        "egress": {"scheme": "https", "host": host, "ip": "93.184.216.34", "port": 443, "method": "GET",
                   "path": "/simple/", "bytes": "0B", "requests": 1, "total": "0B"}})
    curfew.library.curfew_policy_free(policy)
    print("allow" if allowed else "deny", *reasons)
    return 0 if allowed else 2


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (OSError, TypeError, ValueError) as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
