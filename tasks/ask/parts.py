"""What `almanac learn` found out about the query, by labelled questions.

learned/query.json in a home has, for each model that answers (`embedded` is none), what each part
was measured to bring, how far each route is trusted, and questions that the model answered without
knowledge, as examples of when it needs more. A part that was never measured is in use.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.ask.choice import Trust
from tasks.experts.knowledge import NeedExample
from warehouse import durable
from warehouse.home import Home

Part = Literal[
    "gate", "programs", "planner", "paths", "bandit", "text", "experts", "filters", "trust"
]
PARTS: tuple[Part, ...] = get_args(Part)
MOST_NEEDS = 50  # examples of each kind and language that are kept
NO_MODEL = "embedded"  # what answers without a language model
_LOST = "Remove it and measure again with `almanac learn`."


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """The gain of the query with a part over the query without it, and whether it is in use.

    `gain` is the difference of the shares of right answers on `questions` that nothing was learned
    from, `low` and `high` are its 95 % interval.
    """

    use: bool
    gain: float
    low: float
    high: float
    questions: int
    measured_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())


@dataclass(frozen=True)
class LearnedQuery:
    """What was measured for the query of one home and one model."""

    parts: dict[str, MeasuredPart] = field(default_factory=dict)
    trusts: dict[str, Trust] = field(default_factory=dict)
    needs: tuple[NeedExample, ...] = ()

    @property
    def off(self) -> frozenset[str]:
        """The parts that were measured not to help."""
        return frozenset(name for name, part in self.parts.items() if not part.use)


def reader_name(settings: Settings) -> str:
    """Return what answers by these settings, as bandits and measurements know it: its model."""
    return NO_MODEL if settings.engine.engine == "rules" else settings.engine.model.name


def check_parts(names: Collection[str]) -> frozenset[Part]:
    """Return names of parts as such; UsageError for another name, with those that there are."""
    for name in names:
        if name not in PARTS:
            raise UsageError(f"There is no part {name!r}. The parts: {', '.join(PARTS)}.")
    return frozenset(part for part in PARTS if part in names)


def load_learned_query(home: Home, model: str) -> LearnedQuery:
    """Return what was measured for a model, nothing if nothing was.

    Raises DamageError if the file is not what was written.
    """
    file = _file(home)
    known = durable.read_sealed_json(file, _LOST).get(model, {}) if file.exists() else {}
    return LearnedQuery(
        {name: MeasuredPart(**values) for name, values in known.get("parts", {}).items()},
        {name: Trust(**values) for name, values in known.get("trusts", {}).items()},
        tuple(NeedExample(**values) for values in known.get("needs", ())),
    )


def save_learned_query(home: Home, model: str, learned: LearnedQuery) -> None:
    """Keep what was learned for a model; parts that were not measured again stay as they were.

    So do examples of the same kind, the newest first, up to `MOST_NEEDS`.
    """
    file = _file(home)
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        earlier = load_learned_query(home, model)
        others: dict[str, Any] = durable.read_sealed_json(file, _LOST) if file.exists() else {}
        parts = {**earlier.parts, **learned.parts}
        values = {
            "parts": {name: asdict(part) for name, part in parts.items()},
            "trusts": {name: asdict(trust) for name, trust in learned.trusts.items()},
            "needs": list(map(asdict, _few((*learned.needs, *earlier.needs)))),
        }
        durable.write_sealed_json(file, {**others, model: values})


def _few(examples: Iterable[NeedExample]) -> Iterator[NeedExample]:
    """Yield the first example with each question, and so many of each kind and language."""
    counts: Counter[tuple[str, bool]] = Counter()
    asked: set[str] = set()
    for example in examples:
        if example.question not in asked:
            asked.add(example.question)
            counts[example.language, example.right] += 1
            if counts[example.language, example.right] <= MOST_NEEDS:
                yield example


def _file(home: Home) -> Path:
    return home.path / "learned" / "query.json"
