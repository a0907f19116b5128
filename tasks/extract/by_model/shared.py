"""Extraction by an endpoint from several workers, which share the limits of one run.

Each call in progress holds a part of the limits. The replies are kept in the home's ledger, which
the workers must see: what one that died was answered is used by whoever goes on.
"""

import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import AlmanacError
from schemas.settings import EngineSettings, ModelSettings
from tasks.extract.by_model.engine import ModelEngine
from tasks.extract.by_model.grounding import Grounded
from tasks.extract.by_model.passages import PassageRow
from tasks.extract.extracted import Extracted
from tasks.models.transports import open_client, width
from tasks.progress import Workers
from warehouse.home import Home
from warehouse.lease import holds
from warehouse.ledger import seal_logs_of_the_dead

ROUNDS = 16  # calls for each concurrent one of a part, so that few wait for the last
Results = tuple[list[Grounded], Counter[str], float]


def parts_of(settings: ModelSettings, workers: int) -> list[ModelSettings]:
    """Divide a model's limits among workers, or among as many as its concurrency allows."""
    many = min(workers, settings.concurrency)
    least, more = divmod(settings.concurrency, many)
    sizes = [least + (number < more) for number in range(many)]
    shares = [size / settings.concurrency for size in sizes]
    return [
        settings.model_copy(
            update={
                "concurrency": size,
                "requests_per_minute": (settings.requests_per_minute or 0) * share or None,
                "tokens_per_minute": (settings.tokens_per_minute or 0) * share or None,
            }
        )
        for size, share in zip(sizes, shares, strict=True)
    ]


@dataclass(frozen=True)
class CallsOfWorker:
    """Makes calls in a worker: a batch is a list of calls' passages."""

    home: Path
    settings: EngineSettings
    run_id: str

    def __call__(self, part: ModelSettings, units: list[list[PassageRow]]) -> Results:
        """Return what calls within a part of the limits give, their counts, and what they cost."""
        if not holds(self.home, self.run_id):
            raise AlmanacError(
                f"The worker on {socket.gethostname()} does not see {self.home}, where an "
                "endpoint's replies are kept. Mount it there under the same path, or leave out "
                "--dask."
            )
        home = Home(self.home)
        seal_logs_of_the_dead(self.home / "ledger", home.journal, home.live)
        settings = self.settings.model_copy(update={"model": part})
        client = open_client(home, settings, self.run_id)
        client.limiter.follow(part.call_tokens + part.reply_tokens)
        try:
            engine = ModelEngine(settings, client, width(settings))
            results = list(engine.extract_units(units))
        finally:
            home.ledger.seal()
        return results, client.counts, client.budget.spent

    def refused(self, units: list[list[PassageRow]], why: str) -> Results:
        """Return that the passages of a call failed, and why."""
        failed = [Extracted(p["passage_id"], failed=why) for unit in units for p in unit]
        return [Grounded(failed)], Counter(), 0.0


def extract_shared(
    engine: ModelEngine, work: CallsOfWorker, workers: Workers, passages: list[PassageRow]
) -> Iterator[Grounded]:
    """Yield the results for passages, whose calls are made by workers.

    The engine packs the calls, so they are those of one process; its client has all counts.
    """
    yield from engine.unreadable(passages)
    parts = parts_of(engine.settings, workers.threads)
    units, size = engine.units(passages), ROUNDS * max(part.concurrency for part in parts)
    batches = ((units[start : start + size],) for start in range(0, len(units), size))
    for results, counts, spent in workers(work, batches, parts):
        engine.client.counts.update(counts)
        engine.client.budget.spent += spent
        yield from results
