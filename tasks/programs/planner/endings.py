"""Find what a question asks of the entities at a path's end: their number, an extreme, a sum.

The path is planned as for any question. The ending follows from words in the question and from the
relations around the path's end; the program computes it with the functions that compare values.
"""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.graphs.graph import Graph, Nodes
from tasks.programs.planner.features import named_share
from tasks.programs.planner.paths import Path, hops_from
from tasks.programs.planner.topics import SLOT
from tasks.programs.value_functions import parse_date, value_of
from tasks.text.chinese_words import simplified
from tasks.text.expected_answer import expected_answer

Kind = Literal["count", "least", "greatest", "sum", "average"]
Cue = Literal["count", "sum", "average", "earliest", "latest", "least", "greatest"]
SAMPLED = 50  # nodes whose values show the kind of values that a relation has
MOSTLY = 0.8  # share of them that must be such values
COMPARED = 200  # entities whose values are compared
CLASSIFIER = "[个位部本首所条座颗名种家只匹项门类款支篇幅张间处场片株棵户口艘架辆件套]"

CUES: dict[Cue, re.Pattern[str]] = {
    "count": re.compile(rf"\bhow many\b|\bnumber of\b|(?:几|多少){CLASSIFIER}", re.I),
    "sum": re.compile(r"\b(?:totals?|sum|altogether|combined)\b|总和|总共|一共", re.I),
    "average": re.compile(r"\b(?:average|mean)\b|平均", re.I),
    "earliest": re.compile(r"\b(?:first|earliest|oldest)\b|最早|最先|最古老", re.I),
    "latest": re.compile(r"\b(?:last|latest|newest|youngest|most recent)\b|最晚|最新|最近", re.I),
    "least": re.compile(
        r"\b(?:smallest|shortest|lowest|least|fewest|lightest|cheapest|shallowest)\b|最[小短低少轻矮浅]",
        re.I,
    ),
    "greatest": re.compile(
        r"\b(?:largest|biggest|longest|tallest|highest|greatest|deepest|most(?: expensive)?"
        r"|heaviest)\b|最[大长高多重深贵]",
        re.I,
    ),
}
_CUES_OF: dict[Kind, tuple[Cue, ...]] = {
    "count": ("count",),
    "sum": ("sum",),
    "average": ("average",),
    "least": ("earliest", "least"),
    "greatest": ("latest", "greatest"),
}
_THING = re.compile(
    rf"\A\W*(?:which|who|whom)\b(?! (?:year|date|day|time)\b)|哪{CLASSIFIER}|谁", re.I
)
_DIGIT = re.compile(r"\d")
_ASKS = re.compile(
    r"\b(?:who|whom|whose|which|what|where|when|how|(?:can|could|will|would) you)\b"
    r"|谁|什么|[哪何几]|多少",
    re.I,
)
_NEGATED = re.compile(r"\b(?:not|never|neither|nor|except|without)\b|n['’]t\b", re.I)
_CHINESE_NEGATED = re.compile("(?<!是)不是|(?<!有)没有|并非|[没未]被|不属于|除了")
_ALTERNATIVE = re.compile(rf"\bor\s+{SLOT}|{SLOT}\s*,?\s*(?:or\b|还是)|还是\s*{SLOT}", re.I)


@dataclass(frozen=True, slots=True)
class Ending:
    """What to compute from the entities at a path's end.

    `attribute` is the relation whose values are compared or added up. If it is the last relation of
    the path (`last`), the entities are those before that relation. Without an attribute, the values
    at the path's end are compared or added up.
    """

    kind: Kind
    attribute: str = ""
    last: bool = False  # whether the attribute is the path's last relation


def asks_for_ends(masked: str, path: Path, graph: Graph) -> bool:
    """Tell whether a masked question may ask for the nodes at a path's end.

    It does not if it negates, if it can only be answered by yes or no, or if it offers the topic as
    one of two things.
    """
    masked = simplified(masked)
    names = " ".join(graph.relations[relation] for relation, _ in path)
    asks = _ASKS.search(masked)
    clause = masked[asks.start() :] if asks else masked  # not "I do not know" before "who"
    if _has_cue(_NEGATED, clause, names) or _has_cue(_CHINESE_NEGATED, masked, names):
        return False
    if _ALTERNATIVE.search(masked):
        return False
    return bool(asks) or expected_answer(masked).form != "yes"


def find_ending(masked: str, path: Path, nodes: Nodes, graph: Graph) -> Ending | None:
    """Return the ending that a masked question asks for, None if it asks for the nodes."""
    masked = simplified(masked)
    names = [graph.relations[relation] for relation, _ in path]
    cues = {cue for cue, words in CUES.items() if _has_cue(words, masked, " ".join(names))}
    are_values = _are_values(graph, nodes)
    if "count" in cues and not are_values:
        return Ending("count")
    if len(nodes) < 2:
        return None
    extreme: Kind | None = None
    if cues & {"earliest", "least", "latest", "greatest"}:
        extreme = "least" if cues & {"earliest", "least"} else "greatest"
    if not are_values:
        dates = bool(cues & {"earliest", "latest"})
        attribute = _attribute(masked, nodes, graph, dates=dates) if extreme else None
        return Ending(extreme, attribute) if extreme and attribute else None
    last = names[-1] if len(path) > 1 and not path[-1][1] else ""
    if cues & {"sum", "average"}:
        return Ending("sum" if "sum" in cues else "average", last, bool(last))
    if extreme is None:
        return None
    return Ending(extreme, last, True) if last and _THING.search(masked) else Ending(extreme)


def ending_places(text: str, ending: Ending) -> frozenset[int]:
    """Return where a question says its ending, in characters."""
    cues = _CUES_OF[ending.kind]
    found = (match for cue in cues for match in CUES[cue].finditer(text))
    return frozenset(place for match in found for place in range(*match.span()))


def _attribute(masked: str, nodes: Nodes, graph: Graph, *, dates: bool) -> str | None:
    """Return the relation whose values are compared, None if it is not clear.

    It is the only candidate that the question names or, if it names none, the only candidate.
    """
    likely = []
    for relation, inverse in hops_from(graph, nodes[:COMPARED]):
        values = [] if inverse else _labels(graph, graph.step(nodes[:COMPARED], relation))
        if values and _share(values, dates=dates) >= MOSTLY:
            likely.append(graph.relations[relation])
    chosen = [name for name in likely if named_share(masked, name) > 0] or likely
    return chosen[0] if len(chosen) == 1 else None


def _are_values(graph: Graph, nodes: Nodes) -> bool:
    """Tell whether any of the nodes is an amount or a date, which nobody wants to count."""
    return any(
        _DIGIT.search(label) and value_of(label) is not None for label in _labels(graph, nodes)
    )


def _share(labels: list[str], *, dates: bool) -> float:
    parse = parse_date if dates else value_of
    return sum(parse(label) is not None for label in labels) / len(labels)


def _labels(graph: Graph, nodes: Nodes) -> list[str]:
    return [graph.label(node) for node in nodes[:SAMPLED]]


def _has_cue(words: re.Pattern[str], masked: str, relations: str) -> bool:
    """Tell whether a question has one of the words, not just as part of a relation's name."""
    match = words.search(masked)
    return match is not None and match.group().lower() not in relations.lower()
