"""Ids of entities last from edition to edition, through corrections too."""

import pytest

from tests.mention_tables import alias, correction, ids, journalled, mention, run


def test_ids_persist_while_the_corpus_grows() -> None:
    rows = [
        mention("a", "Georgia", "place", description="a country in the Caucasus"),
        mention("b", "Georgia", "place", description="a state of the American south", mentions=2),
    ]
    first = run(rows)
    anchors = journalled(first, "000001-x")
    rows += [mention("c", "Georgia", "place", description="a country in the Caucasus", mentions=50)]
    second = run(rows, anchors=anchors)
    assert ids(second).items() >= ids(first).items()
    assert [row["anchor"] for row in second.anchors.to_pylist()] != []
    again = run(rows, anchors=anchors + journalled(second, "000002-x"))
    assert len(again.anchors) == len(again.redirects) == 0
    assert again.assignment == second.assignment


def test_when_two_merge_the_smaller_id_leads_to_the_larger() -> None:
    long = "National Aeronautics and Space Administration"
    rows = [mention("a", long, "organisation")]
    rows += [mention(d, "NASA", "organisation") for d in ("b", "c")]
    first = run(rows)
    stated = [alias("a", long, "NASA")]
    second = run(rows, stated, journalled(first, "000001-x"))
    kept, lost = ids(first)["b", "NASA"], ids(first)["a", long]
    assert set(ids(second).values()) == {kept}
    assert second.redirects.to_pylist() == [{"old_entity_id": lost, "entity_id": kept}]
    anchors = journalled(first, "000001-x") + journalled(second, "000002-x")
    third = run(rows, stated, anchors)
    assert third.redirects == second.redirects
    assert third.assignment == second.assignment
    assert ids(run(rows, anchors=anchors)) == ids(first), "apart again, each has its own id again"


def test_when_one_splits_the_larger_part_keeps_the_id() -> None:
    first = run([mention(d, "Phoenix", "place") for d in "abc"])
    (old,) = set(ids(first).values())
    rows = [mention("a", "Phoenix", "person"), *(mention(d, "Phoenix", "place") for d in "bc")]
    second = run(rows, anchors=journalled(first, "000001-x"))
    found = ids(second)
    assert found["b", "Phoenix"] == found["c", "Phoenix"] == old != found["a", "Phoenix"]
    assert len(second.redirects) == 0


def test_a_forgotten_document_leaves_no_redirect() -> None:
    first = run([mention("a", "Atlantis", "place"), mention("b", "Paris", "place")])
    second = run([mention("b", "Paris", "place")], anchors=journalled(first, "000001-x"))
    assert len(second.redirects) == 0
    assert ids(second)["b", "Paris"] == ids(first)["b", "Paris"]


def test_a_document_under_a_new_uri_keeps_its_entities() -> None:
    first = run([mention("a", "Springfield", "place")])
    anchors = journalled(first, "000001-x")
    rows = [mention("b", "Springfield", "place")]
    second = run(rows, anchors=anchors, moved={"b": "a"})
    assert ids(second)["b", "Springfield"] == ids(first)["a", "Springfield"]
    later = run(rows, anchors=anchors + journalled(second, "000002-x"))
    assert ids(later) == ids(second), "it is remembered once it has happened"


def test_a_fresh_entity_never_takes_the_id_of_one_that_is_gone() -> None:
    first = run([mention("a", "Springfield", "place")])
    second = run([mention("b", "Springfield", "place")], anchors=journalled(first, "000001-x"))
    assert ids(first)["a", "Springfield"] != ids(second)["b", "Springfield"]


def test_a_merge_holds_and_can_be_withdrawn() -> None:
    rows = [mention("a", "Bombay", "place"), mention("b", "Mumbai", "place")]
    first = run(rows)
    bombay, mumbai = ids(first)["a", "Bombay"], ids(first)["b", "Mumbai"]
    anchors = journalled(first, "000001-x")
    merge = [correction("merge", bombay, mumbai)]
    for edition in ("000002-x", "000003-x"):
        merged = run(rows, anchors=anchors, overrides=merge)
        assert set(ids(merged).values()) == {mumbai}
        assert merged.redirects.to_pylist() == [{"old_entity_id": bombay, "entity_id": mumbai}]
        anchors += journalled(merged, edition)
    grown = run([*rows, mention("c", "Bombay", "place")], anchors=anchors, overrides=merge)
    assert set(ids(grown).values()) == {mumbai}
    back = run(rows, anchors=anchors, overrides=[*merge, correction("withdraw", "o0", None, 1)])
    assert ids(back) == ids(first)


@pytest.mark.parametrize("away", ["Ambrosia", "b"], ids=["name", "document"])
def test_a_split_holds(away: str) -> None:
    rows = [
        mention("a", "Manna", "thing"),
        mention("b", "Ambrosia", "thing"),
        mention("c", "Manna"),
    ]
    stated = [alias("a", "Manna", "Ambrosia")]
    first = run(rows, stated)
    (old,) = set(ids(first).values())
    anchors = journalled(first, "000001-x")
    split = [correction("split", old, away)]
    fresh = set()
    for edition in ("000002-x", "000003-x"):
        found = run(rows, stated, anchors, split)
        assert ids(found)["a", "Manna"] == ids(found)["c", "Manna"] == old
        assert ids(found)["b", "Ambrosia"] != old
        fresh.add(ids(found)["b", "Ambrosia"])
        anchors += journalled(found, edition)
    assert len(fresh) == 1


@pytest.mark.parametrize("days", [(1, 2), (2, 1)])
def test_merges_in_a_row_end_at_the_last_whatever_the_clock_said(days: tuple[int, int]) -> None:
    rows = [mention(name, name, "place") for name in ("Oslo", "Rome", "Bern")]
    first = ids(run(rows))
    oslo, rome, bern = (first[name, name] for name in ("Oslo", "Rome", "Bern"))
    pairs = [(oslo, rome), (rome, bern)]
    merges = [correction("merge", *pair, day) for pair, day in zip(pairs, days, strict=True)]
    found = run(rows, anchors=journalled(run(rows), "000001-x"), overrides=merges)
    assert set(ids(found).values()) == {bern}
    assert found.redirects.to_pylist() == [
        {"old_entity_id": old, "entity_id": bern} for old in sorted((oslo, rome))
    ]


def test_a_correction_of_something_unknown_changes_nothing() -> None:
    rows = [mention("a", "Oslo", "place")]
    corrections = [correction("merge", "no", "nothing"), correction("split", "no", "Oslo", 1)]
    assert run(rows, overrides=corrections) == run(rows)


@pytest.mark.parametrize(("guessed", "kind"), [("person", "person"), ("unknown", "organisation")])
def test_a_merged_entity_is_of_the_kind_of_the_one_that_remains(guessed: str, kind: str) -> None:
    rows = [
        mention("a", "Harbour Attorney Moe", "organisation", mentions=9),
        mention("b", "Ida Moe", guessed),
    ]
    first = run(rows)
    body, person = ids(first)["a", "Harbour Attorney Moe"], ids(first)["b", "Ida Moe"]
    merge = [correction("merge", body, person)]
    merged = run(rows, anchors=journalled(first, "000001-x"), overrides=merge)
    assert [row["kind"] for row in merged.entities.to_pylist()] == [kind]
