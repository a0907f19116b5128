"""Questions that a model answered without knowledge, as examples of when it needs more.

learned/experts/needs_more.json   by the model's name
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from warehouse import durable
from warehouse.home import Home

MOST_KEPT = 50  # of each kind, language and model
_LOST = "Remove it and learn again with `almanac learn --experts`."


@dataclass(frozen=True, slots=True)
class NeedExample:
    """A question, and whether the model answered it correctly without knowledge.

    `surprise` is the uncertainty of a small model in nats per token, None if it was not measured.
    """

    question: str
    language: str
    right: bool
    surprise: float | None = None


def save_need_examples(home: Home, model: str, examples: Sequence[NeedExample]) -> int:
    """Save examples of a model, the newest first, and return how many it has now."""
    path = _path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name("lock")):
        kept = _read(path)
        earlier = [NeedExample(**row) for row in kept.get(model, [])]
        newest: dict[str, NeedExample] = {}
        for example in (*examples, *earlier):
            newest.setdefault(example.question, example)
        kept[model] = [asdict(example) for example in _few([*newest.values()])]
        durable.write_sealed_json(path, {"models": kept})
        return len(kept[model])


def need_examples(home: Home, model: str) -> list[NeedExample]:
    """Return a model's examples, of which there may be none; raises DamageError."""
    return [NeedExample(**row) for row in _read(_path(home)).get(model, [])]


def _few(examples: Sequence[NeedExample]) -> list[NeedExample]:
    counts: dict[tuple[str, bool], int] = {}
    few = []
    for example in examples:
        kind = (example.language, example.right)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= MOST_KEPT:
            few.append(example)
    return few


def _path(home: Home) -> Path:
    return home.path / "learned" / "experts" / "needs_more.json"


def _read(path: Path) -> dict[str, list[dict[str, Any]]]:
    if not path.exists():
        return {}
    models: dict[str, list[dict[str, Any]]] = durable.read_sealed_json(path, _LOST)["models"]
    return models
