"""Resolution whatever the mentions: in any order, with any aliases, within seconds."""

import gc
import random
import time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.observations import EntityAnchor, Override
from tasks.publish.resolve.entities import resolve
from tests.mention_tables import ALIASES, LOCAL, METAL, PLANET, alias, ids, journalled, mention, run

NAMES = ["Ann Lee", "Lee", "A. Lee", "Lee (singer)", "Lee Corp", "LC", "Ann", "李", "Dr Lee"]
ROWS = st.lists(
    st.builds(
        mention,
        st.sampled_from(["a", "b", "c", "Ann Lee", "Lee (singer)"]),
        st.sampled_from(NAMES),
        st.sampled_from(["person", "place", "organisation", "unknown"]),
        mentions=st.integers(0, 3),
        description=st.sampled_from([None, PLANET, METAL, "a singer", "a metal of the Solar"]),
        context=st.sampled_from(["", "sang of a metal", "the planet"]),
    ),
    max_size=12,
)
STATED = st.lists(
    st.builds(
        alias,
        st.sampled_from("abc"),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(["person", "unknown"]),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(ROWS, STATED, st.randoms(use_true_random=False))
def test_every_name_has_one_entity_whatever_the_order(rows, stated, shuffler) -> None:
    result = run(rows, stated)
    found = ids(result)
    names = {(row["document_id"], row["name"]) for row in rows}
    names |= {(row["document_id"], row[side]) for row in stated for side in ("name", "alias")}
    assert len(result.assignment) == len(found)
    assert set(found) == names
    assert set(found.values()) == set(result.entities["entity_id"].to_pylist())
    shuffled, also = rows[:], stated[:]
    shuffler.shuffle(shuffled)
    shuffler.shuffle(also)
    assert run(shuffled, also) == result


@settings(max_examples=60, deadline=None)
@given(ROWS, STATED)
def test_told_apart_stays_apart_whatever_the_aliases(rows, stated) -> None:
    rows = [row for row in rows if row["document_id"] not in ("x", "y", "z")]
    rows += [
        mention("x", "Lee", "person", title="Lee (singer)"),
        mention("y", "Lee", "place", title="Lee (river)"),
        mention("z", "Lee", "organisation", title="Lee (brand)"),
    ]
    found = ids(run(rows, stated))
    assert len({found[document, "Lee"] for document in "xyz"}) == 3


@settings(max_examples=60, deadline=None)
@given(ROWS, STATED, st.lists(st.sampled_from(["Zoe Kay", "Kay", "ZK"]), min_size=1))
def test_documents_that_touch_nothing_change_nothing(rows, stated, others) -> None:
    first = run(rows, stated)
    more = [mention("z", name, "person", description="a dancer") for name in others]
    for anchors in ([], journalled(first, "000001-x")):
        grown = run(rows + more, stated, anchors)
        assert ids(grown).items() >= ids(first).items()


@settings(max_examples=60, deadline=None)
@given(ROWS, STATED)
def test_a_second_build_changes_no_id(rows, stated) -> None:
    first = run(rows, stated)
    second = run(rows, stated, journalled(first, "000001-x"))
    assert second.assignment == first.assignment
    assert len(second.anchors) == len(second.redirects) == 0


def test_many_bearers_of_few_names_cost_little() -> None:
    shuffler = random.Random(3)
    rows = [
        mention(
            f"d{number}",
            shuffler.choice(["Mercury", "Paris", "Lee", "Ann Lee"]),
            shuffler.choice(["person", "place", "unknown"]),
            description=shuffler.choice([None, PLANET, METAL, f"number {number} of many"]),
            context=f"seen with {number} others on the planet",
        )
        for number in range(3000)
    ]
    began = time.process_time()
    run(rows)
    assert time.process_time() - began < 5


def test_the_garbage_collector_rests_meanwhile_and_is_then_as_it_was() -> None:
    enabled: list[bool] = []

    def failing(texts: list[str]) -> Any:
        enabled.append(gc.isenabled())
        raise RuntimeError("no encoder")

    rows = [
        mention("a", "Mercury", "place", description=PLANET),
        mention("b", "Mercury", "thing", description=METAL),
    ]
    tables = (pa.Table.from_pylist(rows, schema=LOCAL), ALIASES.empty_table())
    journal = (EntityAnchor.to_table([]), Override.to_table([]))
    with pytest.raises(RuntimeError):
        resolve(*tables, *journal, failing)
    assert enabled == [False] and gc.isenabled()
    gc.disable()
    try:
        resolve(*tables, *journal, None)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["·", "•", "--", ", x", "(x)"])
def test_a_mere_sign_may_be_called_a_person(name: str) -> None:
    result = run([mention("d", name, "person"), mention("d", "Nora Field", "person")])
    assert len(result.entities) == 2
