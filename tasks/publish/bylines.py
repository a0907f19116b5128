"""Remove aliases of persons that occur only in citations and bylines, or that others share."""

import re
from typing import Any

import pyarrow as pa

from tasks.text.english_words import is_word
from tasks.text.languages import HAN
from warehouse.derivation import Derivation

_LETTER = re.compile(r"\w")
_WORD_BEFORE = re.compile(r"(?:\b([A-Z])\.|([A-Z][\w’'-]*))[ \n]+$")
_MORE_AFTER = re.compile(r"[ \n]+[A-Z]|, [A-Z]\.")
_CITED_AFTER = re.compile(
    r"(?:[ \n]and[ \n][A-Z]\w+)?,? \(?(?:1[89]|20)\d\d|[ \n]et al|, (?:1[89]|20)\d\d"
)
_MOST_SHARED = 0.5


def without_bylines(derivation: Derivation, aliases: pa.Table) -> pa.Table:
    """Return the aliases without those by which no text outside citations refers to a person."""
    derivation.hand_over("possible_aliases", aliases)
    derivation.step("alias_uses")
    unfit = {
        (row["alias"], row["entity_id"])
        for row in derivation.table("alias_uses").to_pylist()
        if row["weight"] <= _MOST_SHARED or not stands_alone(row)
    }
    pairs = zip(aliases["alias"].to_pylist(), aliases["entity_id"].to_pylist(), strict=True)
    return aliases.filter(pa.array([pair not in unfit for pair in pairs], pa.bool_()))


def stands_alone(row: dict[str, Any]) -> bool:
    """Tell whether a person's alias, a row of the table `alias_uses`, occurs by itself.

    A Chinese alias always counts, since nothing around it shows where it ends. Any other must
    occur somewhere without an adjacent name or initial, and without a year or "et al." after it.
    """
    alias = row["alias"]
    return bool(HAN.search(alias)) or any(
        _is_alone(place["before"], place["after"]) for place in row["places"]
    )


def _is_alone(before: str, after: str) -> bool:
    if _LETTER.match(before[-1:]) or _LETTER.match(after):
        return False
    beside = _WORD_BEFORE.search(before)
    named = beside is not None and (bool(beside[1]) or not is_word(beside[2].lower()))
    return not (named or _MORE_AFTER.match(after) or _CITED_AFTER.match(after))
