"""Chinese gold texts, and what of them the rules find."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from tasks.extract.rules.chinese.read import read_passage
from tests.passages import passage

GOLD = Path(__file__).with_name("chinese_gold.json")

Triple = tuple[str, str, str]


def matches(found: Triple, gold: Triple) -> bool:
    """Return whether an extracted triple states what the gold one states."""
    if found[0] != gold[0]:
        return False
    if found[2] != gold[2]:
        short, long = sorted((found[2], gold[2]), key=len)
        if short not in long or 2 * len(short) < len(long):
            return False
    parts = [part for part in gold[1].split("…") if part not in ("在", "从")]
    return found[1] == gold[1] or all(part in found[1] for part in parts) or found[1] in gold[1]


def score(items: list[dict[str, Any]], *, show: bool) -> dict[str, Any]:
    """Return precision, recall and F1 over gold items, and right and labelled counts by pattern."""
    right = judged = met = wanted = 0
    patterns: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for item in items:
        reading = read_passage(passage_row(item["title"], "", item["text"]))
        found = [(t["head"], t["relation"], t["tail"]) for t in reading.extracted.triples]
        gold = [(h, r, t) for h, r, t in item["triples"]]
        also = [(h, r, t) for h, r, t in item.get("also", [])]
        for triple, pattern in zip(found, reading.patterns, strict=True):
            good = any(matches(triple, other) for other in (*gold, *also))
            patterns[pattern][0] += good
            patterns[pattern][1] += 1
            right += good
            judged += 1
            if show and not good:
                print("  wrong  ", pattern, triple, "<-", item["text"])
        for other in gold:
            got = any(matches(triple, other) for triple in found)
            met += got
            wanted += 1
            if show and not got:
                print("  missed ", other, "<-", item["text"])
    precision, recall = right / max(judged, 1), met / max(wanted, 1)
    return {
        "texts": len(items),
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / max(precision + recall, 1e-9), 3),
        "found": judged,
        "gold": wanted,
        "patterns": {name: shares for name, shares in sorted(patterns.items())},
    }


def passage_row(title: str, heading: str, text: str) -> dict[str, Any]:
    """Return a passage row with the columns that the rules read."""
    return passage(text, title, f"{title} > {heading}" if heading else title, "zh")
