"""Asks for what policy does not grant: another host, another method, another path. Shows what it is told."""
import sys
import time
import urllib.error
import urllib.request

for method, url in (("GET", "http://elsewhere.example/"),
                    ("POST", "http://api.example/v1/status"),
                    ("GET", "http://source.example/private/plans.git/info/refs")):
    body = b"{}" if method == "POST" else None
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=body, method=method))
        sys.exit(f"{method} {url} went through")
    except urllib.error.HTTPError as refusal:
        print(f"{method} {url}: {refusal.code}")
        for line in refusal.read().decode().splitlines():
            print("    " + line)

# The lines come beside the answers, a moment later.
for _ in range(100):
    with open("/run/curfew/denials") as file:
        lines = file.read().splitlines()
    if len(lines) >= 3:
        break
    time.sleep(0.1)
print("and in /run/curfew/denials:")
for line in lines:
    print("    " + line)
