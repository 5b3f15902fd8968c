"""Uses what was installed on what was cloned, and asks the API."""
import json
import os
import sys
import urllib.request

sys.path.insert(0, "/work/lib")
import wordcount  # installed a moment ago

with open("/work/notes/notes.txt") as file:
    counts = wordcount.count(file.read())
with urllib.request.urlopen("http://api.example/v1/status") as answer:
    status = json.load(answer)["status"]

os.makedirs("/work/out", exist_ok=True)
with open("/work/out/words.json", "w") as file:
    json.dump({"counts": dict(sorted(counts.items())), "status": status}, file, indent=2)
    file.write("\n")
print(f"{len(counts)} different words; the API is {status}.")
