"""How well names are resolved, beside equality of normalised names, on gold data.

`python -m benchmarks.resolution` writes benchmarks/results/resolution.json. Three measurements:

- linking: mentions of entity-linking benchmarks with Wikidata ids; every (article, mention) is a
  row; over all articles, or with only context and kind (no descriptions); kinds as in the
  gold data, wrong for one name in four as a small model guesses them, or none;
- documents: the names of Re-DocRED's documents, joined within each document;
- descriptions: pairs of short descriptions of one name, of one thing (Wikidata's and the first
  sentence of Wikipedia's article) or of two namesakes, each in a document of its own.
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import combinations
from random import Random
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.openie_scorer import read_text
from schemas.observations import EntityAnchor, Override
from tasks.models.encoders.load import load_encoder
from tasks.publish.resolve.entities import resolve
from tasks.text.names import is_pronoun, normalise_name

Mention = tuple[str, str]
LINKING = (
    "news-fair oke-2015-eval oke-2015-train oke-2016-eval oke-2016-train reuters-128 rss-500 "
    "spotlight derczynski"
)
KINDS = {"Q215627": "person", "Q27096213": "place", "Q43229": "organisation"}
TYPES = {"PER": "person", "LOC": "place", "ORG": "organisation", "MISC": "thing"}


def main() -> None:
    """Measure everything, print it and write it down."""
    parser_of(__doc__).parse_args()
    encoder = load_encoder("minilm")
    assert encoder is not None
    results = {
        "linking": {
            kinds: _linking(encoder.encode, kinds) for kinds in ("gold", "guessed", "none")
        },
        "documents": _documents(encoder.encode),
        "descriptions": {
            "minilm": _descriptions(encoder.encode),
            "words": _descriptions(None),
        },
    }
    report("resolution", results)


def _row(document: str, name: str, **more: Any) -> dict[str, Any]:
    row = {"document_id": document, "title": "", "language": "en", "name": name, "kind": "unknown"}
    row |= {"mentions": 1, "as_title": False, "description": None, "context": ""} | more
    return row


def _resolved(rows: list[dict[str, Any]], encode: Callable | None) -> dict[Mention, str]:
    text = dict.fromkeys(("document_id", "title", "language", "name", "kind"), pa.string())
    schema = pa.schema(
        text
        | {"mentions": pa.int64(), "as_title": pa.bool_()}
        | {"description": pa.string(), "context": pa.string()}
    )
    none = dict.fromkeys(("document_id", "name", "alias", "kind"), pa.string())
    aliases = pa.schema(none | {"confidence": pa.float64()}).empty_table()
    empty = (EntityAnchor.to_table([]), Override.to_table([]))
    local = pa.Table.from_pylist(rows, schema=schema)
    found = resolve(local, aliases, *empty, encode).assignment.to_pylist()
    return {(row["document_id"], row["name"]): row["entity_id"] for row in found}


# -- linking -----------------------------------------------------------------------------------


def _linking(encode: Callable, kinds: str) -> dict[str, Any]:
    votes: dict[Mention, Counter[str]] = defaultdict(Counter)
    rows: dict[tuple[Mention, str], dict[str, Any]] = {}
    for document, name, gold, kind, context in _linked_mentions():
        kind = _kind_as_seen(kind, kinds, f"{document} {name}")
        votes[document, name][gold] += 1
        row = rows.setdefault(
            ((document, name), kind), _row(document, name, kind=kind, context=context, mentions=0)
        )
        row["mentions"] += 1
    gold_of = {mention: min(v, key=lambda g: (-v[g], g)) for mention, v in votes.items()}
    began = time.perf_counter()
    found = _resolved(list(rows.values()), encode)
    seconds = time.perf_counter() - began
    return {
        "names": len(gold_of),
        "entities": len(set(gold_of.values())),
        "almanac": _agreement(found, gold_of) | {"seconds": round(seconds, 2)},
        "same_name": _agreement({m: normalise_name(m[1]) for m in gold_of}, gold_of),
    }


def _kind_as_seen(kind: str, kinds: str, seed: str) -> str:
    """Return the kind that resolution sees: `guessed` is wrong for one name in four."""
    if kinds == "none":
        return "unknown"
    dice = Random(seed)
    return (
        dice.choice(sorted(TYPES.values()))
        if kinds == "guessed" and dice.random() < 1 / 3
        else kind
    )


def _linked_mentions() -> Iterator[tuple[str, str, str, str, str]]:
    for name in LINKING.split():
        path = DATA / "linking" / f"{name}.benchmark.jsonl"
        for line in read_text(path).splitlines():
            article = json.loads(line)
            text = article["text"]
            for label in article["labels"]:
                start, end = label["span"]
                surface = text[start:end]
                if label["entity_id"].startswith("Q") and not is_pronoun(surface, "en"):
                    kind = next((KINDS[t] for t in label["type"].split("|") if t in KINDS), "thing")
                    context = text[max(0, start - 150) : end + 150]
                    yield f"{name}/{article['id']}", surface, label["entity_id"], kind, context


# -- within documents --------------------------------------------------------------------------


def _documents(encode: Callable) -> dict[str, Any]:
    gold: dict[Mention, Hashable] = {}
    rows: dict[tuple[Mention, str], dict[str, Any]] = {}
    path = DATA / "relations" / "redocred" / "dev_revised.json.gz"
    for number, document in enumerate(json.loads(read_text(path))):
        for at, vertex in enumerate(document["vertexSet"]):
            for mention in vertex:
                if mention["type"] in TYPES:
                    key, kind = (f"{number:04d}", mention["name"]), TYPES[mention["type"]]
                    gold.setdefault(key, (number, at))
                    more = {"title": document["title"], "kind": kind, "mentions": 0}
                    row = rows.setdefault((key, kind), _row(*key, **more))
                    row["mentions"] += 1
    found = _resolved(list(rows.values()), encode)
    within = {mention: (mention[0], entity_id) for mention, entity_id in found.items()}
    plain = {mention: (mention[0], normalise_name(mention[1])) for mention in gold}
    return {
        "names": len(gold),
        "entities": len(set(gold.values())),
        "almanac": _agreement(within, gold),
        "same_name": _agreement(plain, gold),
    }


# -- descriptions ------------------------------------------------------------------------------


def _descriptions(encode: Callable | None) -> dict[str, Any]:
    """Return the share of pairs of one thing joined, and of pairs of namesakes kept apart."""
    known = json.loads(read_text(DATA / "fb15k237" / "entity2wikidata.json.gz")).values()
    same = sorted(set(_same_thing(known)))
    namesakes = sorted(set(_namesakes(known)))
    rows = []
    for number, (_, one, other) in enumerate(same + namesakes):
        # Every pair has a name of its own, so that pairs do not meet.
        for side, text in (("a", one), ("b", other)):
            rows.append(_row(f"{number}{side}", f"Name{number}", description=text))
    found = _resolved(rows, encode)
    joined = [
        found[f"{number}a", f"Name{number}"] == found[f"{number}b", f"Name{number}"]
        for number in range(len(same) + len(namesakes))
    ]
    apart = joined[len(same) :]
    return {
        "same_thing": len(same),
        "joined": round(sum(joined[: len(same)]) / len(same), 3),
        "namesakes": len(namesakes),
        "kept_apart": round(1 - sum(apart) / len(apart), 3),
    }


def _same_thing(known: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    first = dict(_first_sentences())
    for entity in known:
        title = unquote((entity["wikipedia"] or "").rpartition("/")[2]).replace("_", " ")
        sentence = first.get(title, "")
        stated = re.search(r"\b(?:is|was|are|were) ((?:an?|the|one of) .*)", sentence)
        if entity["description"] and stated and sentence.split()[0] == title.split()[0]:
            yield entity["label"], entity["description"], stated[1]


def _first_sentences() -> Iterator[tuple[str, str]]:
    folder = DATA / "multihop"
    wiki = json.loads(read_text(folder / "2wiki_corpus.json.gz"))
    texts = [(document["title"], document["text"]) for document in wiki]
    hotpot = json.loads(read_text(folder / "hotpotqa_corpus.json.gz"))
    texts += [(title, "".join(sentences)) for title, sentences in hotpot.items()]
    for title, text in texts:
        found = re.match(r"(.{30,400}?[.!?])\s+[A-Z]", f"{' '.join(text.split())} X")
        if found:
            yield title, found[1]


def _namesakes(known: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    bearers: dict[str, set[str]] = defaultdict(set)
    for entity in known:
        if entity["label"] and entity["description"]:
            bearers[entity["label"].casefold()].add(entity["description"])
    for name, texts in bearers.items():
        for one, other in combinations(sorted(texts), 2):
            yield name, one, other


# -- agreement ---------------------------------------------------------------------------------


def _agreement(found: Mapping[Any, Hashable], gold: Mapping[Any, Hashable]) -> dict[str, float]:
    """Return pairwise and B-cubed precision, recall and F1 of a clustering against the gold one."""
    mentions = sorted(gold)
    both = Counter((found[m], gold[m]) for m in mentions)
    ours, theirs = Counter(found[m] for m in mentions), Counter(gold[m] for m in mentions)
    joint = sum(n * (n - 1) for n in both.values())
    pairs = [sum(n * (n - 1) for n in side.values()) for side in (ours, theirs)]
    cubed = [
        sum(n * n / side[key[at]] for key, n in both.items()) / len(mentions)
        for at, side in enumerate((ours, theirs))
    ]
    figures: dict[str, float] = {}
    for name, precision, recall in (
        ("pairs", joint / (pairs[0] or 1), joint / (pairs[1] or 1)),
        ("b_cubed", cubed[0], cubed[1]),
    ):
        f1 = 2 * precision * recall / ((precision + recall) or 1)
        figures |= {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}
    return {name: round(value, 4) for name, value in figures.items()}


if __name__ == "__main__":
    run_command(main)
