"""The section `peers`: policy engines of others on the shared workload, in turn with the floor and with Curfew.

Each is built from its language's package registry, at the version that its folder pins, where the toolchain is there.
A program `PEER ENGINE egress|create best|written FOLDER RULES` checks all answers, measures, and prints one line of JSON. What the
figures mean is in ../README.md.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from typing import Callable, Optional

from measuring import Table, build_floor, decision, make_workload, no_workload, progress

HERE = pathlib.Path(__file__).resolve().parent
DECISIONS = ["egress", "create"]
SIZES, ROUNDS = [10, 100, 1_000, 10_000], 3
QUICK_SIZES, QUICK_ROUNDS = [10, 1_000], 1
WRITTEN_RULES_MAX = 1_000  # beyond, some need minutes to load and some refuse
WRITTEN_BAR = ("egress", "written", 1_000)
TIMES_CURFEW_MIN = 20
# Where installers of languages put them when they leave PATH alone.
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/go/bin", str(pathlib.Path.home() / ".cargo/bin")])


class Skipped(Exception):
    """Why a peer is not measured."""


@dataclass
class Language:
    name: str
    programs: list
    pins: str  # the file that pins the version
    build: Callable  # (folder, out) -> the command to run, and the start of its line


@dataclass
class Peer:
    name: str
    engine: str  # how its program calls it
    language: Language
    pin: str  # the version in the file of pins is what follows
    written_times_min: Optional[int] = None  # at WRITTEN_BAR


def go_build(folder, out):
    return ["go", "build", "-o", out / "go_peer", "."], [out / "go_peer"]


def rust_build(folder, out):
    return ["cargo", "build", "--release", "--locked", "--target-dir", out / "rust"], [out / "rust/release/rust_peer"]


def java_build(folder, out):
    classes = os.pathsep.join([str(out / "java/classes"), str(out / "java/lib/*")])
    return ["mvn", "-q", "-B", f"-Dout={out / 'java'}", "compile"], ["java", "-XX:+UseSerialGC", "-cp", classes, "peers.Peer"]


GO = Language("go", ["go"], "go.mod", go_build)
RUST = Language("rust", ["cargo"], "Cargo.toml", rust_build)
JAVA = Language("java", ["mvn", "java"], "pom.xml", java_build)
PEERS = [
    Peer("OPA", "opa", GO, r"open-policy-agent/opa v", 200),
    Peer("cel-go", "cel", GO, r"cel-go v", 800),
    Peer("Cedar", "cedar", RUST, r'cedar-policy = "=', 8_000),
    Peer("regorus", "regorus", RUST, r'regorus = \{ version = "='),
    Peer("SAPL", "sapl", JAVA, r"sapl-pdp-embedded</artifactId>\s*<version>"),
]


def built(language, out):
    """The command of a language's peers. What the build said is left in a file."""
    for program in language.programs:
        if not shutil.which(program, path=SEARCHED):
            raise Skipped(f"{program} is missing")
    progress(f"peers: building those in {language.name}")
    folder = HERE / language.name
    build, command = language.build(folder, out)
    log = out / f"{language.name}.log"
    with log.open("w") as said:
        status = subprocess.run(build, cwd=folder, env={**os.environ, "PATH": SEARCHED}, stdin=subprocess.DEVNULL,
                                stdout=said, stderr=subprocess.STDOUT).returncode
    if status != 0:
        raise Skipped(f"the build in {language.name} ended with {status}: see {log}")
    return command


def version(peer):
    pins = (HERE / peer.language.name / peer.language.pins).read_text()
    return re.search(peer.pin + r"([\d.]+)", pins).group(1)


def bar(peer, key):
    if key == WRITTEN_BAR and peer.written_times_min:
        return peer.written_times_min
    return TIMES_CURFEW_MIN


def bench_peers(settings):
    table = Table("peers (CPU per decision)", "decision, engine, form, rules", "ns median", "times floor", "times Curfew",
                  "bar", "load ms")
    reason = no_workload()
    if reason:
        table.note(f"not measured: {reason}")
        return table
    out = settings.out / "peers"
    out.mkdir(exist_ok=True)
    commands = {}
    for language in (GO, RUST, JAVA):
        try:
            commands[language.name] = built(language, out)
        except Skipped as why:
            for peer in PEERS:
                if peer.language is language:
                    table.note(f"skipped: {peer.name}: {why}")
    peers = [peer for peer in PEERS if peer.language.name in commands]
    if not peers:
        return table
    sizes, rounds = (QUICK_SIZES, QUICK_ROUNDS) if settings.quick else (SIZES, ROUNDS)
    make_workload(settings, sizes, "rego,cedar,cel")
    build_floor(settings)
    missed = []
    for decision_name in DECISIONS:
        for rules in sizes:
            runs = {}
            for i in range(rounds):
                for name, form, command in programs(settings, commands, peers, decision_name, rules):
                    progress(f"peers: {decision_name}, {rules} rules, round {i + 1} of {rounds}: {name} {form}")
                    runs.setdefault((name, form), []).append(decision(command))
            missed += add_rows(table, settings, runs, decision_name, rules)
    explain(table, peers, rounds, missed)
    return table


def programs(settings, commands, peers, decision_name, rules):
    """What runs in one round: name, form, command."""
    workload, own = settings.out / "workload", f"{decision_name}_{rules}"
    yield "floor", "", [settings.out / "floor", decision_name, "flat", str(rules), workload]
    yield "Curfew", "written", [settings.bin / "decision_bench", "native", workload / f"{own}.json",
                                settings.out / f"{own}.curfew"]
    for peer in peers:
        for form in ("best", "written") if rules <= WRITTEN_RULES_MAX else ("best",):
            yield peer.name, form, [*commands[peer.language.name], peer.engine, decision_name, form, workload, str(rules)]


def add_rows(table, settings, runs, decision_name, rules):
    """The rows of one number of rules; says which missed their bar."""
    missed, curfew = [], ("Curfew", "written")

    def times(key, other):
        return statistics.median(a["ns_med"] / b["ns_med"] for a, b in zip(runs[key], runs[other]))

    for key, each in runs.items():
        name, form = key
        label = ", ".join(filter(None, [decision_name, name, form, f"{rules:,}"]))
        wrong = max(run["bad"] for run in each)
        if wrong:
            settings.failed.append(f"{label}: {wrong} wrong decisions")
            table.row(label, f"{wrong} wrong", "", "", "", "")
            continue
        median, load = (statistics.median(run[field] for run in each) for field in ("ns_med", "load_ms"))
        cells = [f"{median:,.0f}", f"{times(key, ('floor', '')):,.1f}", "", ""]
        peer = next((peer for peer in PEERS if peer.name == name), None)
        if peer:
            least, ratio = bar(peer, (decision_name, form, rules)), times(key, curfew)
            cells[2:] = [f"{ratio:,.0f}", f"at least {least:,}" + ("" if ratio >= least else ", missed")]
            if ratio < least:
                missed.append(label)
        table.row(label, *cells, f"{load:,.1f}")
    return missed


def explain(table, peers, rounds, missed):
    table.note("versions: " + ", ".join(f"{peer.name} {version(peer)}" for peer in peers))
    table.note(f"{rounds} {'round' if rounds == 1 else 'rounds'}, each of all in turn; ratios are medians of those within a round.")
    table.note("best: rules as data, or what else the engine is fastest with; written: one rule for each allow rule, as Curfew's")
    table.note("are. Every answer was checked")
    table.note("bars missed: " + "; ".join(missed) if missed else "every bar is met")
