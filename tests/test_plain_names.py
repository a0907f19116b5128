"""Names that nothing in their documents touches are resolved together, with the same result."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import MonkeyPatch

from tasks.publish.resolve import one_document
from tasks.publish.resolve.entities import Resolution
from tasks.publish.resolve.plain_names import plain_rows
from tests.mention_tables import LOCAL, METAL, PLANET, alias, correction, journalled, mention, run

NAMES = [
    "Ann Lee", "Lee", "Dr. Lee", "Lee (singer)", "Lee (person)", "Ann", "Configure Ann Lee",
    "Water Development Fund", "WDF", "Water Development", "Water Development Fund (WDF)",
    "Norfield", "norfield", "Norfield, Ohio", "Norfield Inc.", "Norfields", "R/D Norfield",
    "WidgetX Console", "Console", "李明", "明斯克", "明斯克（Minsk）",
]  # fmt: skip
DOCUMENTS = [f"d{number}" for number in range(7)] + ["Ann Lee", "Norfield"]
KINDS = st.sampled_from(["person", "place", "organisation", "unknown"])
ROWS = st.lists(
    st.builds(
        mention,
        st.sampled_from(DOCUMENTS),
        st.sampled_from(NAMES),
        KINDS,
        mentions=st.integers(0, 9),
        language=st.sampled_from(["en", "en", "zh", None]),
        first_said=st.integers(0, 9),
        kind_stated=st.sampled_from([None, None, True]),
        description=st.sampled_from([None, None, None, PLANET, METAL]),
        context=st.sampled_from(["", "sang of a metal", "the planet"]),
        born=st.sampled_from([None, None, None, "1812", "1952"]),
    ),
    max_size=40,
    unique_by=lambda row: (row["document_id"], row["name"], row["kind"], row["kind_stated"]),
)
STATED = st.lists(
    st.builds(alias, st.sampled_from(DOCUMENTS), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    max_size=4,
)
APART = st.lists(st.tuples(*map(st.sampled_from, (DOCUMENTS, NAMES, NAMES))), max_size=2)
MOVED = st.dictionaries(st.just("d8"), st.sampled_from(DOCUMENTS))


def one_by_one(*mentions: Any) -> Resolution:
    """Return the resolution in which each name of each document is an object of its own."""
    with MonkeyPatch.context() as patch:
        patch.setattr(one_document, "plain_rows", lambda rows, joined: np.zeros(len(rows), bool))
        return run(*mentions)


def corrections(first: Resolution) -> list[dict[str, Any]]:
    """Merge the first entity with the last, and split a document and a name from others."""
    ids = first.entities["entity_id"].to_pylist() or ["none"]
    return [
        correction("merge", ids[0], ids[-1], 1),
        correction("split", ids[0], "d1", 2),
        correction("split", ids[-1], "Norfield", 3),
    ]


@settings(max_examples=25, deadline=None)
@given(ROWS, STATED, APART, MOVED)
def test_names_resolved_together_are_what_they_are_one_by_one(rows, stated, apart, moved) -> None:
    first = one_by_one(rows, stated)
    assert run(rows, stated) == first
    anchors = journalled(first, "000001-x")
    later = [row for row in rows if row["document_id"] != "d2"]
    later += [row | {"document_id": "d8"} for row in rows if row["document_id"] == "d3"]
    more = (later, stated, anchors, corrections(first), moved, apart)
    assert run(*more) == one_by_one(*more)


def plain(rows: list[dict[str, Any]], joined: list[tuple[str, str]]) -> list[bool]:
    return plain_rows(pa.Table.from_pylist(rows, schema=LOCAL), joined).tolist()


def test_a_name_is_plain_where_nothing_touches_it() -> None:
    rows = [mention(document, "Norfield", "place") for document in "abcde"]
    rows += [
        mention("b", "Ann Lee", "person"),
        mention("c", "Norfield (ship)", "thing"),
        mention("d", "Olga Norfield", "person"),
        mention("d", "WDF", "organisation"),
        mention("d", "Lee", "person"),
        mention("d", "Water Development Fund", "organisation"),
    ]
    assert plain(rows, [("e", "norfield")]) == [
        True, True, False, False, False, True, False, False, False, True, False
    ]  # fmt: skip


def test_what_is_told_of_a_name_makes_it_more_than_plain() -> None:
    rows = [
        mention("a", "Norfield", "place", description=PLANET),
        mention("b", "Norfield", "person", born="1812"),
        mention("c", "Norfield", "place", mentions=0),
        mention("d", "Norfield", "place", title="Norfield"),
    ]
    assert not any(plain(rows, []))
