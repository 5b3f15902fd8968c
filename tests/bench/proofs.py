"""The section of proofs: a never over many rules, and what a change of a large set does. Its sets are proof_sets'."""
import statistics

from measuring import ROOT, Table, build_floor, decision, make_workload, measured, middle, must, no_workload, progress

HERE = ROOT / "tests" / "bench"
RULES_OF_FLOOR = 10
FLOOR_NS_NOMINAL = 75  # on the machine that the bars of proofs are stated for
NEVER_MS_MAX = 1_000
DIFF_MS_MAX = 2_000


def bench_proofs(settings):
    table = Table("proofs (CPU of the whole command)", "question", "ms", "middle half", "bar, ms", "answer")
    scale = None
    if not no_workload():
        workload, floor = make_workload(settings, [RULES_OF_FLOOR]), build_floor(settings)
        scale = statistics.median(decision([floor, "egress", "flat", str(RULES_OF_FLOOR), workload])["ns_med"]
                                  for _ in range(5)) / FLOOR_NS_NOMINAL
    sets, curfew = settings.out / "proofs", settings.bin / "curfew"
    must([HERE / "proof_sets", "--out", sets, "--seed", str(settings.seed)])
    for name in ("old", "new"):
        must([curfew, "compile", sets / f"{name}.curfew", "-o", sets / f"{name}.bundle"])
    never, diff = "1,000 allows with 1,000 denies", "10,000 rules, ten of them changed"
    questions = [(f"prove a never, {never}", ["prove", sets / "never.curfew"], 0, "proven", NEVER_MS_MAX),
                 (f"refute one, {never} less one", ["prove", sets / "refuted.curfew"], 2, "refuted", NEVER_MS_MAX),
                 (f"diff of bundles, {diff}", ["diff", sets / "old.bundle", sets / "new.bundle"], 2, "both",
                  DIFF_MS_MAX)]
    for question, arguments, expected, word, most_ms in questions:
        progress(f"proofs: {question}")
        costs = []
        for _ in range(3):
            answer = settings.out / "proofs/answer"
            with open(answer, "w") as out:
                _, cpu, status = measured([curfew, *arguments], stdout=out)
            if status != expected or word not in answer.read_text():
                settings.failed.append(f"a wrong proof: {question} ended with {status}")
            costs.append(cpu)
        median, spread = middle(costs)
        bar = f"{most_ms * scale:,.0f}" if scale else "unknown"
        table.row(question, f"{median:,.0f}", spread, bar, word)
        if scale and median > most_ms * scale:
            table.note(f"over its bar: {question}")
    table.note(f"the sets of tests/bench/proof_sets, seed {settings.seed}; 3 runs each, with the start of the process, and for a")
    table.note("never with the text's way to a module; ")
    if scale:
        table.notes[-1] += (f"the bars are {NEVER_MS_MAX / 1000:g} s and {DIFF_MS_MAX / 1000:g} s times {scale:.2f}, for the floor of the")
        table.note(f"decisions at {RULES_OF_FLOOR} rules took {scale * FLOOR_NS_NOMINAL:.0f} ns here and about {FLOOR_NS_NOMINAL} ns where they are stated")
    else:
        table.notes[-1] += f"no bar, since bars scale by the floor of the decisions: {no_workload()}"
    return table
