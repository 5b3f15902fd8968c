"""Reads who it is, computes something, and writes an artefact to the folder that may leave."""
import hashlib
import json
import os

LIMIT = 20_000

with open("/run/curfew/identity.json") as file:
    identity = json.load(file)
# The token is for calling the bridge outside; it is printed nowhere.
print(f"I am sandbox {identity['sandbox']}, on task {identity['task']} for {identity['owner']}.")

sieve = bytearray([1]) * (LIMIT + 1)
sieve[0:2] = b"\0\0"
for n in range(2, int(LIMIT**0.5) + 1):
    if sieve[n]:
        sieve[n * n :: n] = bytes(len(range(n * n, LIMIT + 1, n)))
primes = [n for n in range(LIMIT + 1) if sieve[n]]

os.makedirs("/work/out", exist_ok=True)
report = {
    "limit": LIMIT,
    "primes": len(primes),
    "largest": primes[-1],
    "sha256": hashlib.sha256(",".join(map(str, primes)).encode()).hexdigest(),
}
with open("/work/out/primes.json", "w") as file:
    json.dump(report, file, indent=2)
    file.write("\n")
print(f"{len(primes)} primes up to {LIMIT}; the largest is {primes[-1]}.")
