"""How close a refresh by a model comes to what its endpoint allows.

    python -m benchmarks.throughput [--passages 1000] [--concurrency 16 64] [--latency 0.5]

Each passage is a call of its own. The bound is calls x latency / concurrency; the time counts from
the arrival of the first request to the answer of the last, by the ledger of a mock endpoint that
was started before and whose answers were prepared. Calls, replies and facts are written durably
meanwhile. `share_in_flight` is how full the refresh keeps the endpoint: calls there at a time, as a
share of the concurrency; unlike the bound it allows for an endpoint that a busy machine makes slow.
Start-up, reading and the edition's build are reported separately.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import model_run
from benchmarks.command import parser_of, report, run_command
from benchmarks.standing_endpoint import Standing, prepared_answers, span, standing
from benchmarks.villages import write_corpus

PASSAGES_A_DOCUMENT = 1.9  # a tenth of the villages have one section, the others two
REACH = {16: 0.95, 64: 0.90}


def measure(
    folder: Path, source: Path, endpoint: Standing, concurrency: int, latency: float
) -> dict[str, Any]:
    """Refresh an empty home once and return the figures."""
    folder.mkdir(parents=True)
    out, seen, began = folder / "figures.json", endpoint.mark(), time.time()
    load = os.getloadavg()[0]
    process = model_run.start(
        folder / "home", source, endpoint.base_url, out, concurrency=concurrency, call_tokens=1
    )
    figures = model_run.finish(process, out)
    calls = endpoint.calls(seen)
    seconds, bound = span(calls), len(calls) * latency / concurrency
    at_the_endpoint = sum((call.answered or call.arrived) - call.arrived for call in calls)
    return {
        "calls": len(calls),
        "bound_seconds": round(bound, 3),
        "asking_seconds": round(seconds, 3),
        "share_of_bound": round(bound / seconds, 4),
        "most_in_flight": most_in_flight(calls),
        "share_in_flight": round(at_the_endpoint / concurrency / seconds, 4),
        "mean_seconds_at_the_endpoint": round(at_the_endpoint / len(calls), 4),
        "client_cpu_ms_per_call": round(
            1000 * figures["stages"]["extract"]["cpu_seconds"] / len(calls), 3
        ),
        "seconds_before_the_first_request": round(min(c.arrived for c in calls) - began, 3),
        "stages": figures["stages"],
        "start_up_cpu_seconds": figures["start_up_cpu_seconds"],
        "facts": {
            kind: number
            for kind, number in figures["counts"]["extraction"].items()
            if kind.endswith("_mentions")
        },
        "load_average_before": round(load, 2),
    }


def most_in_flight(calls: list[Any]) -> int:
    """Return the largest number of calls at the endpoint at once."""
    moments = [(call.arrived, 1) for call in calls]
    moments += [(call.answered, -1) for call in calls if call.answered is not None]
    now = most = 0
    for _, step in sorted(moments):
        now += step
        most = max(most, now)
    return most


def main() -> bool:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, passages=1000, latency=0.5, repeats=3)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16, 64])
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"latency": arguments.latency}
    with tempfile.TemporaryDirectory(prefix="almanac-throughput-") as name:
        folder = Path(name)
        write_corpus(folder / "corpus", round(arguments.passages / PASSAGES_A_DOCUMENT))
        settings = model_run.model_settings("", 1, call_tokens=1)
        answers = prepared_answers(folder, folder / "corpus", settings)
        with standing(folder / "endpoint", latency=arguments.latency, answers=answers) as endpoint:
            for concurrency in arguments.concurrency:
                runs = [
                    measure(
                        folder / f"{concurrency}-{turn}",
                        folder / "corpus",
                        endpoint,
                        concurrency,
                        arguments.latency,
                    )
                    for turn in range(arguments.repeats)
                ]
                runs.sort(key=lambda run: run["share_of_bound"])
                shares = [run["share_of_bound"] for run in runs]
                middle = runs[len(runs) // 2]
                figures[f"at_{concurrency}"] = {**middle, "shares_of_all_runs": shares}
    report("throughput", figures)
    reached = {n: figures[f"at_{n}"]["share_of_bound"] for n in arguments.concurrency}
    return any(share < REACH.get(n, 0.0) for n, share in reached.items())


if __name__ == "__main__":
    run_command(main)
