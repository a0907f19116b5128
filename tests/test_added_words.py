"""A name with a word that is no part of it is no entity beside the name."""

import pytest

from tasks.publish.resolve.entities import Resolution
from tests.mention_tables import alias, ids, mention, run


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


def test_one_more_character_is_no_part_of_a_name_that_others_show_to_be_whole() -> None:
    rows = [often("赵明远", "person"), mention("e", "赵明远官", "person", kind_stated=True)]
    assert len(set(entities_of(run(rows)))) == 2
    rows += [mention("f", f"赵明远{word}", "person", kind_stated=True) for word in "派说"]
    rows += [mention("g", "赵明远官道守城")]
    assert len(set(entities_of(run(rows)))) == 1
    rows += [mention("h", "赵明远纪念馆")]
    assert len(set(entities_of(run(rows)))) == 2


def test_a_noun_that_several_places_have_makes_no_other_place() -> None:
    names = ("临江", "清溪", "白沙")
    rows = [often(name, "place") for name in names]
    rows += [mention("e", f"{name}地区", "place", kind_stated=True) for name in names]
    assert len(set(entities_of(run(rows)))) == 3


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


@pytest.mark.parametrize(
    ("whole", "piece"),
    [("ISO/T 4711 网关", "ISO"), ("ISO/T 4711 网关", "T 4711"), ("Push & Pull Server", "Push")],
)
def test_a_piece_of_a_name_is_the_name_and_is_counted_once(whole: str, piece: str) -> None:
    resolution = run([mention("d", whole, mentions=4), mention("d", piece, mentions=4)])
    (entity,) = resolution.entities.to_pylist()
    assert (entity["name"], entity["mentions"]) == (whole, 4)


def test_what_stands_elsewhere_or_is_an_alternative_is_no_piece() -> None:
    elsewhere = [mention("d", "Push & Pull"), mention("d", "Push"), mention("e", "Push")]
    assert len(run(elsewhere).entities) == 2
    assert len(run([mention("d", "Grafx/StatsX"), mention("d", "StatsX")]).entities) == 2


def about_widgets(*names: str) -> int:
    rows = [mention(place, name) for place in "abcd" for name in ("WidgetX", *names)]
    return len(run([*rows, mention("e", "Zeta")]).entities) - 2


def test_the_corpus_subject_before_a_name_makes_no_other_name() -> None:
    assert about_widgets("WidgetX Console", "Console") == 1
    assert about_widgets("WidgetX Console", "Console", "Gadget Console") == 3
    assert about_widgets("widgetx_console", "Console") == 2
    assert about_widgets("WidgetX Frobnik", "Frobnik") == 1
    assert about_widgets("Zeta Frobnik", "Frobnik") == 2


def test_a_plain_word_and_its_plural_are_one_thing_of_whatever_guessed_kind() -> None:
    def kinds(single: str, plural: str) -> int:
        guesses = ((single, "person"), (plural, "organisation"))
        rows = [mention(d, name, kind, title=d) for d in "abc" for name, kind in guesses]
        return len(run(rows).entities)

    assert kinds("Tenant", "Tenants") == 1
    assert kinds("Tenax", "Tenaxs") == 2


def test_the_pieces_of_a_long_form_that_was_cut_are_what_its_acronym_means() -> None:
    names = ("Deposits", "Transfer Insurance", "DTI")
    rows = [mention("d", name) for name in names]
    stated = [alias("d", "Deposits and Transfer Insurance", "DTI")]
    assert run(rows, stated).entities["name"].to_pylist() == ["Deposits and Transfer Insurance"]
    assert len(run([*rows, mention("e", "Deposits")], stated).entities) == 2
