"""Pairs about facts of a graph: evidence as triple or sentence, claims as sentence or answer.

A claim is supported by evidence of its own relation and value; it is refuted by another value of
its relation, and left open by another relation, whatever words they share.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from recipes.entailment.pair import Pair, Verdict, in_reported_half
from tasks.experts.filters.evidence import triple_text

_CLAIMS = (
    "The {r} of {h} is {t}.", "{h}'s {r} is {t}.", "{t} is the {r} of {h}.", "{h} has the {r} {t}.",
    "What is the {r} of {h}? {t}", "The {r} of {h} was {t}.", "For {h}, the {r} is {t}.",
)  # fmt: skip
_PARTS = "ar bel cor del en fir gal hol is jor kel lor mar nen or pel quin ros sel tor ul ver zel"
_ENDS = "a o um ith en is or el ack ury ford mund heim wick dale ven"
FILES = ("wiki80_en", "fewrel_val_wiki_en")
MOST = 9000  # sentences of the relation sets


def invented_facts(folder: Path, count: int, seed: int = 0) -> Iterator[Pair]:
    """Yield pairs about invented names, with the names of Wikidata's relations."""
    random = Random(seed)
    rows = json.loads((folder / "docred_rel_info.json").read_text("utf-8")).values()
    named = json.loads((folder / "wikidata_pid2name_fewrel.json").read_text("utf-8")).values()
    relations = sorted({*rows, *(name for name, _ in named)})
    relations = [name for name in relations if len(name.split()) <= 4]
    for _ in range(count):
        head, tail, other, third = (invented_name(random) for _ in range(4))
        relation, second = random.sample(relations, 2)
        if random.random() < 0.25:
            tail, other = (str(random.randint(2, 2020)) for _ in range(2))
        held_out = in_reported_half(relation)
        stated, more = triple_text(head, relation, tail), triple_text(head, second, third)
        both = random.choice((f"{stated} {more}", f"{more} {stated}"))
        shown = random.choice((stated, both, _claim(head, relation, tail, random)))
        made: list[tuple[str, str, Verdict]] = [
            (shown, _claim(head, relation, tail, random), "support"),
            (shown, _claim(head, relation, random.choice((other, other, head)), random), "refute"),
            (random.choice((more, triple_text(other, relation, tail))),
             _claim(head, relation, tail, random), "unknown"),
            (both, _claim(head, relation, third, random), "refute"),
            (stated, _claim(head, second, tail, random), "unknown"),
            (triple_text(tail, relation, head), _claim(head, relation, tail, random), "unknown"),
        ]  # fmt: skip
        for evidence, claim, verdict in random.sample(made, 3):
            yield Pair(evidence, claim, verdict, "fact", held_out)


def stated_facts(folder: Path, seed: int = 0) -> Iterator[Pair]:
    """Yield pairs of sentences with a marked fact, and claims of this fact or a changed one."""
    random = Random(seed)
    rows = [row for name in FILES for row in _rows(folder / f"{name}.jsonl.gz")]
    random.shuffle(rows)
    names = sorted({row["relations"][0]["relation"] for row in rows})
    for row in rows[:MOST]:
        fact, text = row["relations"][0], row["text"]
        head, relation, tail = fact["head"], fact["relation"], fact["tail"]
        other = random.choice(names)
        shown = triple_text(head, relation, tail)
        made: list[tuple[str, str, Verdict]] = [
            (text, _claim(head, relation, tail, random), "support"),
            (text, shown, "support"),
            (text, _claim(tail, relation, head, random), "refute"),
            (text, _claim(head, other, tail, random), "unknown"),
            (shown, _claim(head, other, tail, random), "unknown"),
            (text, _claim(head, relation, _other(rows, fact, random), random), "refute"),
        ]  # fmt: skip
        for evidence, claim, verdict in random.sample(made, 2):
            if not (verdict == "unknown" and other == relation):
                yield Pair(evidence, claim, verdict, "relation", in_reported_half(text))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (row for row in map(json.loads, lines) if row["relations"])


def _other(rows: Sequence[dict[str, Any]], fact: dict[str, Any], random: Random) -> str:
    """Return a tail of the same relation in another sentence."""
    for row in random.sample(rows, 60):
        if row["relations"][0]["relation"] == fact["relation"]:
            return str(row["relations"][0]["tail"])
    return str(random.choice(rows)["relations"][0]["tail"])


def _claim(head: str, relation: str, tail: str, random: Random) -> str:
    return random.choice(_CLAIMS).format(h=head, r=relation, t=tail)


def invented_name(random: Random) -> str:
    """Return an invented name of one or two words."""
    words = (
        "".join(random.choice(_PARTS.split()) for _ in range(random.randint(1, 2)))
        + random.choice(_ENDS.split())
        for _ in range(random.choice((1, 1, 2)))
    )
    return " ".join(words).title()
