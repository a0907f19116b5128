"""Kill refreshes by a model at random points; the endpoint's ledger decides what was asked twice.

    python -m benchmarks.model_crash [--kills 200] [--documents 500] [--seed 1]

As `benchmarks.crash`, with a mock endpoint that takes 20 to 50 ms per call and 8 calls in flight.
After every run a copy of the home is read: what it holds a reply to must never arrive at the
endpoint again. What was in flight when a run was killed may be asked again, and nothing else.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.command import parser_of, report, run_command
from benchmarks.crash import Tally, figures_of, is_faulty, torture
from benchmarks.model_run import KEY, MODEL, model_settings
from benchmarks.planned import planned_requests
from benchmarks.standing_endpoint import Standing, standing
from benchmarks.villages import write_corpus
from schemas.observations import ModelReply
from schemas.settings import Settings
from tasks.mock_endpoint.chat_request import messages_sha
from tasks.models.endpoint import host_of
from warehouse.home import Home
from warehouse.ledger import seal_logs_of_the_dead

CONCURRENCY = 8
LATENCY = 0.03


@dataclass
class Watch:
    """What arrived at the endpoint, run by run, beside what each home held by then."""

    endpoint: Standing
    messages: dict[str, str]  # request hash, as the almanac has it, to the endpoint's
    scratch: Path
    calls: int = 0
    runs: int = 0
    asked_though_answered: int = 0
    asked_again: int = 0
    most_asked_again_at_once: int = 0
    unknown: int = 0
    _seen: int = 0
    _held: dict[Path, set[str]] = field(default_factory=dict)
    _asked: dict[Path, set[str]] = field(default_factory=dict)

    def after_run(self, home: Path) -> None:
        """Count what this run asked, and note what the home holds now."""
        self.endpoint.wait_until_quiet()
        arrived = [str(call.sha) for call in self.endpoint.calls(self._seen)]
        self._seen = self.endpoint.mark()
        held, sent = self._held.get(home, set()), self._asked.setdefault(home, set())
        known = set(self.messages.values())
        again = sum(sha in sent for sha in arrived) + len(arrived) - len(set(arrived))
        self.calls += len(arrived)
        self.runs += 1
        self.asked_though_answered += sum(sha in held for sha in arrived)
        self.asked_again += again
        self.most_asked_again_at_once = max(self.most_asked_again_at_once, again)
        self.unknown += sum(sha not in known for sha in arrived) if self.runs > 1 else 0
        sent.update(arrived)
        self._held[home] = self._replies_in(home)

    def _replies_in(self, home: Path) -> set[str]:
        """Return what a copy of the home holds replies to, those in logs of the dead included."""
        copy = Home(self.scratch)
        for part in ("ledger", "journal", "live"):
            if (home / part).exists():
                shutil.copytree(home / part, copy.path / part)
        seal_logs_of_the_dead(copy.path / "ledger", copy.journal, copy.live)
        found = copy.journal.table(ModelReply)["request_sha"].to_pylist()
        shutil.rmtree(copy.path, ignore_errors=True)
        return {self.messages[sha] for sha in found if sha in self.messages}


def measure(work: Path, *, kills: int, documents: int, seed: int) -> tuple[Tally, Watch]:
    """Kill this many runs by a model; return the results and the calls."""
    os.environ["OPENAI_API_KEY"] = KEY
    write_corpus(work / "planned", documents, seed)
    with standing(work / "endpoint", latency=LATENCY) as endpoint:
        settings = model_settings(endpoint.base_url, CONCURRENCY)
        watch = Watch(endpoint, _messages(work, settings), work / "copy")
        tally = torture(
            work,
            kills=kills,
            documents=documents,
            seed=seed,
            settings=settings,
            after_run=watch.after_run,
        )
    return tally, watch


def _messages(work: Path, settings: Settings) -> dict[str, str]:
    requests = planned_requests(work / "plan", work / "planned", settings)
    host = host_of(settings.engine.model)
    return {request.sha(MODEL, host): messages_sha(request.messages) for request in requests}


def main() -> bool:
    """Run the benchmark and write its results."""
    arguments = parser_of(__doc__, kills=200, documents=500, seed=1).parse_args()
    with tempfile.TemporaryDirectory(
        prefix="almanac-model-crash-", ignore_cleanup_errors=True
    ) as work:
        tally, watch = measure(
            Path(work), kills=arguments.kills, documents=arguments.documents, seed=arguments.seed
        )
    call_counts = {
        "calls_in_flight": CONCURRENCY,
        "calls": watch.calls,
        "calls_for_what_was_answered": watch.asked_though_answered,
        "calls_repeated": watch.asked_again,
        "most_calls_repeated_by_one_run": watch.most_asked_again_at_once,
        "calls_nobody_planned": watch.unknown,
    }
    report("model-crash", {**figures_of(tally, arguments.documents), **call_counts})
    too_many = watch.asked_again > CONCURRENCY * tally.kills
    return is_faulty(tally) or too_many or bool(watch.asked_though_answered)


if __name__ == "__main__":
    run_command(main)
