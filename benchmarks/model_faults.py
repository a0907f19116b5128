"""Every known fault of an endpoint alone, then a mixture: final tables as without faults.

    python -m benchmarks.model_faults [--only ID ...] [--documents 6] [--mixed 500] [--seed 1]

Each fault of `hostile/llm_faults.jsonl` meets every request on its first try. `EXPECTED` says what
its line asks for: `retried` and right in the same run, `accepted` without a further call,
`rejected` with a reason and had by the next refresh, `cut` into smaller requests, or the run
`stops` at once and the next one goes on. Then a random 30 % of the requests of 500 documents meet
any of the faults that do not stop a run.
"""

import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from benchmarks.fault_checks import CHECKS, Seen
from benchmarks.model_run import KEY, MODEL, model_settings
from benchmarks.silent_loss import lost
from benchmarks.standing_endpoint import Standing, prepared_answers, read_faults, standing
from benchmarks.villages import write_corpus
from schemas.errors import AlmanacError
from schemas.operations import ModelCall
from schemas.settings import Price, Settings
from tasks.refresh import refresh
from tasks.run import RunReport
from warehouse.home import Home

DEADLINE = 2.0
CONCURRENCY = 4
STOPS = {
    *("h401", "h402_quota", "h403", "h404_model", "h429_after_86400", "h429_forever"),
    *("tls_bad_cert", "dns_fail"),
}
ACCEPTED = {
    *("body_fenced", "body_prose_before", "body_bom", "body_content_list", "body_extra_fields"),
    *("body_not_in_source", "body_usage_missing", "body_usage_negative", "body_model_swapped"),
}
REJECTED = {"h400_filter", "body_refusal", "body_refusal_field"}
CUT = {"h400_ctx", "h413"}
ELSEWHERE = {"tls_bad_cert", "dns_fail"}  # not served by the plain endpoint


def expected(fault: str) -> str:
    """Return the required result of a fault."""
    for kind, faults in (
        ("stops", STOPS),
        ("accepted", ACCEPTED),
        ("rejected", REJECTED),
        ("cut", CUT),
    ):
        if fault in faults:
            return kind
    return "retried"


def settings_for(base_url: str, concurrency: int = CONCURRENCY) -> Settings:
    """Return settings with a short deadline and a known price."""
    return model_settings(
        base_url,
        concurrency,
        deadline_seconds=DEADLINE,
        patience_seconds=8.0,
        prices={MODEL: Price(input=1.0, output=2.0)},
    )


def attempt(home: Home, source: Path, settings: Settings) -> tuple[RunReport | None, str, float]:
    """Refresh; return the report, or the words of the error, and the seconds."""
    began = time.monotonic()
    try:
        return refresh(home, [str(source)], settings), "", time.monotonic() - began
    except AlmanacError as error:
        return None, str(error), time.monotonic() - began


def one_fault(fault: str, folder: Path, source: Path, clean: Home, answers: Path) -> dict[str, Any]:
    """Meet one fault, then go on with a sound endpoint; return what was wrong, if anything."""
    home, cut = Home(folder / "home"), expected(fault) == "cut"
    options: dict[str, Any] = {"fault_first": 1} if cut else {}
    if fault == "tls_bad_cert":
        options["tls_self_signed"] = True
    elif fault not in ELSEWHERE:
        options["faults"] = [(fault, 1.0)]
    with standing(
        folder / "bad", answers=answers, late_seconds=DEADLINE + 1, **options
    ) as endpoint:
        url = "https://nowhere.invalid/v1" if fault == "dns_fail" else endpoint.base_url
        settings = settings_for(url, 1 if cut else CONCURRENCY)
        run, error, seconds = attempt(home, source, settings)
        calls = endpoint.calls()
    noted = home.live.table(ModelCall).to_pylist()
    first = lost(home, clean) if run else None
    with standing(folder / "good", answers=answers) as endpoint:
        after, later_error, _ = attempt(home, source, settings_for(endpoint.base_url))
        calls_after = len(endpoint.calls())
    seen = Seen(fault, home, run, error, seconds, calls, noted, first, calls_after)
    wrong = [] if after else [f"the next refresh failed: {later_error}"]
    healed = lost(home, clean) if after else {}
    if healed.get("rows_lost") or healed.get("rows_added"):
        wrong.append(f"after the next refresh: {healed}")
    for check in (CHECKS[expected(fault)], CHECKS["totals"], CHECKS.get(fault)):
        wrong += check(seen) if check else []
    return {
        "expected": expected(fault),
        "wrong": wrong,
        "calls": len(calls),
        "outcomes": dict(Counter(row["outcome"] for row in noted)),
        "seconds": round(seconds, 1),
        **({"error": error[:200]} if error else {}),
    }


def mixture(folder: Path, documents: int, seed: int) -> dict[str, Any]:
    """Refresh this many documents while 30 % of their requests meet some fault."""
    source, clean, home = folder / "corpus", Home(folder / "clean"), Home(folder / "home")
    write_corpus(source, documents, seed)
    answers = prepared_answers(folder, source, settings_for(""))
    with standing(folder / "sound", answers=answers) as endpoint:
        attempt(clean, source, settings_for(endpoint.base_url, 16))
    faults = [name for name in read_faults() if name not in STOPS]
    shares = [(name, 0.3 / len(faults)) for name in faults]
    with standing(
        folder / "bad", faults=shares, answers=answers, late_seconds=DEADLINE + 1, seed=seed
    ) as endpoint:
        run, error, seconds = attempt(home, source, settings_for(endpoint.base_url, 16))
        figures = _mixed_figures(home, clean, run, error, endpoint)
        again, error, _ = attempt(home, source, settings_for(endpoint.base_url, 16))
    healed = lost(home, clean)
    # Of the right shape with a fact that no text has: kept, and that fact rejected by grounding.
    healed["replies_with_ungrounded_facts"] = healed.pop("bad_replies_kept")
    return {
        "documents": documents,
        "seconds": round(seconds, 1),
        **figures,
        "next_refresh": error or {**healed, "outcome": again.outcome if again else ""},
    }


def _mixed_figures(
    home: Home, clean: Home, run: RunReport | None, error: str, endpoint: Standing
) -> dict[str, Any]:
    noted, calls = home.live.table(ModelCall).to_pylist(), endpoint.calls()
    seen = Seen("mixture", home, run, error, 0.0, calls, noted, None, 0)
    return {
        "error": error,
        "faults_met": len({call.fault for call in calls if call.fault}),
        "requests_that_met_one": sum(call.fault is not None for call in calls),
        "passages_rejected": run.counts["extraction"]["failed"] if run else None,
        "passages_different": seen.passages_different_from(clean),
        "calls_at_the_endpoint": len(calls),
        "calls_noted": len(noted),
        "calls_that_never_arrived": len(noted) - len(calls),
        "totals_wrong": CHECKS["totals"](seen),
        "outcomes": dict(Counter(row["outcome"] for row in noted)),
    }


def alone(folder: Path, documents: int, only: list[str]) -> dict[str, dict[str, Any]]:
    """Meet each fault alone and return the results."""
    source, clean, found = folder / "corpus", Home(folder / "clean"), {}
    write_corpus(source, documents)
    answers = prepared_answers(folder, source, settings_for(""))
    with standing(folder / "sound", answers=answers) as endpoint:
        attempt(clean, source, settings_for(endpoint.base_url))
    for fault in only or read_faults():
        found[fault] = one_fault(fault, folder / fault, source, clean, answers)
        words = found[fault]["wrong"] or "as it must"
        print(f"{fault}: {words} ({found[fault]['seconds']} s)", file=sys.stderr, flush=True)
    return found


def main() -> bool:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="*", default=[], metavar="ID")
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--mixed", type=int, default=500, help="documents of the mixture")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = KEY
    with tempfile.TemporaryDirectory(prefix="almanac-faults-") as name:
        found = alone(Path(name) / "alone", arguments.documents, arguments.only)
        mixed = {}
        if arguments.mixed:
            mixed = mixture(Path(name) / "mixed", arguments.mixed, arguments.seed)
    wrong = {fault: one["wrong"] for fault, one in found.items() if one["wrong"]}
    figures = {
        "faults": len(found),
        "as_they_must": len(found) - len(wrong),
        "wrong": wrong,
        "mixture": mixed,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "load_average": round(os.getloadavg()[0], 2),
        "each": found,
    }
    report("model-faults", figures)
    return bool(wrong)


if __name__ == "__main__":
    run_command(main)
