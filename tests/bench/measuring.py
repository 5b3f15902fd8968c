"""What the sections of the benchmark share: the table they print, the programs they run, the floor."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOOR = ROOT.parent / "shared" / "bench"  # the workload and the floor that other engines were measured against


def progress(text):
    print(f"    {text}", file=sys.stderr, flush=True)


class Table:
    """Rows of one section, printed with columns as wide as they need."""

    def __init__(self, title, *columns):
        self.title, self.rows, self.notes = title, [columns], []

    def row(self, *cells):
        self.rows.append(tuple(str(cell) for cell in cells))

    def note(self, text):
        self.notes.append(text)

    def __str__(self):
        lines = [self.title]
        if len(self.rows) > 1:
            widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
            for row in self.rows:
                first, rest = row[0].ljust(widths[0]), row[1:]
                cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:])]
                lines.append("  " + "  ".join([first, *cells]))
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def middle(values):
    """The median, and the spread of the middle half."""
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return statistics.median(values), f"{low:.1f} to {high:.1f}"


def must(command, **options):
    """The output of a command, without which there is no figure."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def decision(command):
    """What a program measured, which is its last line."""
    return json.loads(must(command).splitlines()[-1])


def no_workload():
    """Why there is no workload to measure decisions on, or nothing."""
    if not (FLOOR / "gen.mjs").exists():
        return f"the workload generator is not there (looked for {os.path.relpath(FLOOR, ROOT)}/gen.mjs)"
    return None if shutil.which("node") else "node is missing, and the workload generator needs it"


def make_workload(settings, sizes, engines="none", requests=256):
    """The folder of the workload, with the policy as text for the engines that are named."""
    folder = settings.out / ("workload" if requests == 256 else f"workload_{requests}")
    must(["node", FLOOR / "gen.mjs", "--out", folder, "--n", ",".join(map(str, sizes)), "--engines", engines,
          "--requests", str(requests), "--seed", str(settings.seed)])
    return folder


def build_floor(settings):
    """The hand-written decision, with the options that its readme names."""
    program = settings.out / "floor"
    must(["g++", "-std=c++20", "-O2", "-march=native", "-o", program, FLOOR / "floor/floor.cpp"])
    return program


def measured(command, **options):
    """Wall milliseconds and CPU milliseconds of a command and all that it waited for, and its status."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, child.returncode
