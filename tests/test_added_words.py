"""A name with a word that is no part of it is no entity beside the name."""

import pytest

from tasks.publish.resolve.entities import Resolution
from tests.mention_tables import ids, mention, run


def often(name: str, kind: str, **more: str) -> dict[str, object]:
    return mention("d", name, kind, mentions=16, kind_stated=True, **more)


def entities_of(resolution: Resolution) -> list[str]:
    return [entity for _, entity in sorted(ids(resolution).items())]


@pytest.mark.parametrize(
    ("name", "kind", "longer"),
    [
        ("赵明远", "person", "赵明远派"),
        ("赵明远", "person", "赵明远率精锐军队"),
        ("赵明远", "person", "赵明远很"),
        ("临江", "place", "赵明远守临江"),
        ("FROBQ", "unknown", "FROBQ默认"),
        ("FROBQ", "unknown", "WIDGETX中FROBQ"),
        ("Frobnicator", "thing", "Will Frobnicator"),
        ("Frobnicator", "thing", "Configure Frobnicator"),
        ("Frobnicator Tool", "thing", "Frobnicator Tool Apply"),
    ],
)
def test_a_frequent_name_with_a_verb_or_the_like_is_the_name(
    name: str, kind: str, longer: str
) -> None:
    resolution = run([often(name, kind), mention("e", longer, kind)])
    assert len(set(entities_of(resolution))) == 1
    assert resolution.entities["name"].to_pylist() == [name]
    assert longer not in resolution.aliases["alias"].to_pylist()


@pytest.mark.parametrize(
    ("name", "kind", "longer", "longer_kind"),
    [
        ("赵明", "person", "赵明远", "person"),
        ("赵明远", "person", "赵明远军队", "organisation"),
        ("赵明远", "person", "赵明远论教育", "work"),
        ("司马", "person", "司马越", "person"),
        ("FROBQ", "unknown", "认证FROBQ", "unknown"),
        ("Frobnicator", "thing", "Frobnicator Consulting", "organisation"),
        ("Frobnicator", "thing", "Frobnicator DELETE", "thing"),
        ("Field", "person", "Will Field", "person"),
    ],
)
def test_other_words_make_another_name(name: str, kind: str, longer: str, longer_kind: str) -> None:
    resolution = run([often(name, kind), mention("e", longer, longer_kind, kind_stated=True)])
    assert len(set(entities_of(resolution))) == 2


def test_a_name_that_often_has_the_word_keeps_it() -> None:
    rows = [often("赵明远", "person"), mention("e", "赵明远派", "person", mentions=3)]
    assert len(set(entities_of(run(rows)))) == 2


def test_what_many_documents_name_unexplained_is_one_thing() -> None:
    explained = [
        mention("a", "Frobnicator", description="Frobnicator is an open server of messages."),
        mention("b", "Frobnicator", description="Frobnicator offers a careful way to send post."),
    ]
    passing = [mention(place, "Frobnicator") for place in "cde"]
    assert len(run(explained).entities) == 2
    assert len(run(explained + passing).entities) == 1
