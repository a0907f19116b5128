"""Relations by one name: forms of wordings, the vocabulary, what a build decides."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from schemas.observations import Override, RelationName
from schemas.ontology import Ontology
from tasks.programs.relation_matching import SYNONYM, similarity
from tasks.publish.relation_names import name_relations, new_names
from tasks.text.relations.forms import form_of
from tasks.text.relations.vocabulary import NO_NOUNS, common_relations, meaning_of

TEXTS = ("wording", "tail_end", "head_sort", "tail_sort")
STATED = pa.schema(
    [*((name, pa.string()) for name in TEXTS), ("by_model", pa.bool_()), ("triples", pa.int64())]
)
NONE_KNOWN = RelationName.to_table([])
NO_OVERRIDES = Override.to_table([])


def stated(
    *uses: tuple[str, int],
    end: str = "thing",
    sorts: tuple[str, str] = ("", ""),
    by_model: bool = False,
) -> pa.Table:
    rows = [
        {
            "wording": wording,
            "tail_end": end,
            "head_sort": sorts[0],
            "tail_sort": sorts[1],
            "by_model": by_model,
            "triples": triples,
        }
        for wording, triples in uses
    ]
    return pa.Table.from_pylist(rows, schema=STATED)


def names(
    table: pa.Table,
    known: pa.Table = NONE_KNOWN,
    overrides: pa.Table = NO_OVERRIDES,
    ontology: Sequence[str] = (),
) -> dict[str, tuple[str, bool]]:
    own = Ontology.model_validate({"relations": list(ontology)})
    rows = name_relations(table, known, overrides, own).to_pylist()
    return {row["wording"]: (row["relation"], row["turned"]) for row in rows}


def override(wording: str, relation: str | None, **more: Any) -> pa.Table:
    row = {
        "override_id": "o", "action": "relation", "subject": wording, "object": relation,
        "name": None, "inverse": None, "reason": None, "made_at": datetime(2026, 1, 1, tzinfo=UTC),
        **more,
    }  # fmt: skip
    return Override.to_table([row])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("painted", "paints"), ("painted", "has painted"), ("is the mayor of", "mayor of"),
        ("was elected mayor of", "mayor of"), ("second mayor of", "mayor of"),
        ("45th mayor of", "mayor of"), ("Bavarian mayor of", "mayor of"),
        ("works for", "was working for"), ("lay on", "lies on"), ("修建了", "修建"),
        ("served as mayor of", "mayor of"), ("first known mayor of", "mayor of"),
    ],
)  # fmt: skip
def test_tense_copula_and_modifiers_do_not_tell_relations_apart(one: str, other: str) -> None:
    assert form_of(one) == form_of(other)


@pytest.mark.parametrize(
    ("turned", "forward"),
    [
        ("painted by", "painted"), ("mural painted by", "paints"), ("patron", "patron of"),
        ("has patron", "patron of"), ("由…修建", "修建"), ("被修建", "修建"),
    ],
)  # fmt: skip
def test_voice_and_roles_turn_a_relation_round(turned: str, forward: str) -> None:
    one, other = form_of(turned), form_of(forward)
    assert (one.kind, one.words) == (other.kind, other.words)
    assert one.turned and not other.turned


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("founded", "funded"), ("founded", "found"), ("won", "lost"), ("parent of", "child of"),
        ("came before", "came after"), ("accepted", "not accepted"), ("may cause", "causes"),
        ("former mayor of", "mayor of"), ("largest city in", "smallest city in"),
        ("wrote in", "written in"), ("second of", "first of"), ("20 users", "30 users"),
        ("被称为", "称为"), ("为…举行", "举行"),
    ],
)  # fmt: skip
def test_opposites_and_near_spellings_stay_apart(one: str, other: str) -> None:
    made = names(stated((one, 5), (other, 5)))
    assert made[one] != made[other]


def test_modifiers_tell_labels_apart_that_the_vocabulary_lacks() -> None:
    made = names(stated(("last name", 5), ("first name", 5), ("name", 3)))
    assert [made[w][0] for w in made] == [*made]
    assert names(stated(("second wife", 2), ("wife", 1)))["second wife"][0] == "married"
    ontology = ("last name", "price")
    made = names(stated(("last name", 1), ("first name", 1), ("new price", 1)), ontology=ontology)
    assert [made[w][0] for w in made] == ["last name", "first name", "price"]
    assert similarity("last name", "first name") < SYNONYM == similarity("mayor", "first mayor")


def test_columns_of_one_table_are_no_one_relation() -> None:
    columns = ["2011 harvest", "2012 harvest", "Keeper", "Former keeper", "Founded", "founded in"]
    table, rows = stated(*((column, 1) for column in columns)), [[[c, "thing"] for c in columns]]
    made = name_relations(table, NONE_KNOWN, NO_OVERRIDES, Ontology(), rows).to_pylist()
    relations = {row["wording"]: row["relation"] for row in made}
    assert relations["2011 harvest"] == "2011 harvest" != relations["2012 harvest"]
    assert relations["Keeper"] != relations["Former keeper"]
    assert names(table)["2011 harvest"] == names(table)["2012 harvest"]


def test_the_vocabulary_knows_common_relations_by_many_wordings() -> None:
    assert meaning_of("wife of") == meaning_of("was married to") == meaning_of("配偶")
    born, written = meaning_of("born in"), meaning_of("written by")
    assert born and (born.name, born.turned) == ("born in", False)
    assert meaning_of("born in", "time") == meaning_of("出生于", "time") != born
    assert written and (written.name, written.turned) == ("written by", False)
    # The ends tell who directs what.
    assert meaning_of("director of", "thing", "person", "organisation") is None
    assert meaning_of("director of", "thing", "person", "work") == meaning_of("directed")


@pytest.mark.parametrize("place", ["town", "village", "division"])
def test_what_something_lies_in_is_no_part_of_it(place: str) -> None:
    part = f"{place} of"
    before = names(stated((part, 3)))[part]
    assert names(stated((place, 9), (part, 3))) == {place: (place, False), part: before}
    row = {
        "wording": place, "tail": "thing", "relation": before[0], "turned": True,
        "vocabulary": "", "edition": "1",
    }  # fmt: skip
    assert names(stated((place, 9)), RelationName.to_table([row]))[place] == (place, False)


def test_an_office_may_be_an_address() -> None:
    assert meaning_of("office") is None
    held = meaning_of("served as")
    assert held and held.name == "position held" and meaning_of("holds the office of") == held


def test_properties_that_read_as_verbs_are_listed() -> None:
    single = {relation.name for relation in common_relations().values() if relation.single}
    assert single >= NO_NOUNS
    assert not any(form_of(name).kind == "noun" for name in NO_NOUNS)


def test_a_relation_is_called_by_its_commonest_wording() -> None:
    made = names(stated(("paints", 2), ("painted", 5), ("painted by", 9), ("was painting", 1)))
    assert set(made.values()) == {("painted", False), ("painted", True)}
    assert made["painted by"] == ("painted", True)
    assert names(stated(("tuned by", 3)))["tuned by"] == ("tuned", True)
    made = names(stated(("motto", 3), ("motto of", 1)))
    assert made == {"motto": ("motto", False), "motto of": ("motto", True)}


@pytest.mark.parametrize(
    ("wording", "words"),
    [
        ("founding member of", "founding member"), ("leading figure in", "leading figure in"),
        ("worked several times with", "work several times with"),
        ("oil painting by", "painting by"), ("clothing", "clothing"),
        ("comedy film starring", "star"), ("critics rating", "critics rating"),
    ],
)  # fmt: skip
def test_verbs_in_nouns_are_no_verbs(wording: str, words: str) -> None:
    assert form_of(wording).words == words


def test_what_is_denied_keeps_its_words() -> None:
    assert names(stated(("not tuned by", 3)))["not tuned by"] == ("not tuned by", False)
    made = names(stated(("never tuned by", 1), ("never tuned", 2)))
    assert made == {"never tuned by": ("never tuned", True), "never tuned": ("never tuned", False)}


def test_times_have_a_relation_of_their_own() -> None:
    made = names(stated(("painted in", 2), ("painted on", 1), end="time"))
    assert set(made.values()) == {("painted on", False)}


def test_an_established_name_stays() -> None:
    first = name_relations(stated(("paints", 5)), NONE_KNOWN, NO_OVERRIDES, Ontology())
    known = new_names(first, NONE_KNOWN, "000001")
    later = stated(("paints", 5), ("painted", 50), ("painted by", 70))
    assert set(names(later, known).values()) == {("paints", False), ("paints", True)}
    second = name_relations(later, known, NO_OVERRIDES, Ontology())
    added = new_names(second, known, "000002")["wording"].to_pylist()
    assert set(added) == {"painted", "painted by"}


def test_people_correct_a_mapping() -> None:
    table = stated(("helms", 3), ("helmed by", 3), ("directed", 9), ("wife", 2))
    by = "directed by"
    joined = names(table, overrides=override("helms", "directed"))
    assert joined["helms"] == (by, True) and joined["helmed by"] == (by, False)
    turned = names(table, overrides=override("helms", by))
    assert turned["helms"] == (by, False)
    turned = names(table, overrides=override("helms", "directed", inverse=True))
    assert turned["helms"] == (by, False)
    assert names(table, overrides=override("wife", None))["wife"] == ("wife", False)


def test_an_ontology_names_relations_first() -> None:
    made = names(stated(("directed", 9), ("directed by", 3)), ontology=["directed"])
    assert made == {"directed": ("directed", False), "directed by": ("directed", True)}


def test_an_ontology_has_what_the_vocabulary_words_otherwise() -> None:
    table = stated(("directed", 9), ("directed by", 3), ("stars", 2))
    made = names(table, ontology=["director", "cast member"])
    assert made["directed by"] == ("director", False)
    assert made["directed"] == ("director", True)
    assert made["stars"] == ("cast member", False)


def test_a_relation_of_chinese_texts_has_a_chinese_name_and_keeps_it() -> None:
    table = stated(("创始人", 3), ("创办", 2), ("由…创办", 1))
    made = names(table)
    turned = {"创始人": False, "创办": True, "由…创办": False}
    assert made == {wording: ("创始人", turn) for wording, turn in turned.items()}
    first = name_relations(table, NONE_KNOWN, NO_OVERRIDES, Ontology())
    both = stated(("创始人", 3), ("founded by", 9))
    assert names(both)["创始人"] == ("founded by", False)
    assert names(both, new_names(first, NONE_KNOWN, "1"))["founded by"] == ("创始人", False)


@pytest.mark.parametrize(
    "wording",
    [
        "first office", "second husband", "meaning of name", "Tarn Prize year", "former owner",
        "best known building", "last year's tonnage", "opening hours", "first opened on",
        "awarded", "awarded by", "present use", "前任总经理", "最后住所",
    ],
)  # fmt: skip
def test_what_a_model_wrote_stays_unless_it_is_listed_word_for_word(wording: str) -> None:
    assert names(stated((wording, 1), by_model=True)) == {wording: (wording, False)}


@pytest.mark.parametrize(
    ("wording", "end", "name"),
    [
        ("date_of_birth", "time", ("born on", False)), ("Born in", "thing", ("born in", False)),
        ("was founded by", "thing", ("founded by", False)),
        ("founder", "thing", ("founded by", False)), ("founder of", "thing", ("founded by", True)),
        ("is the spouse of", "thing", ("married", False)), ("出生地", "thing", ("出生于", False)),
    ],
)  # fmt: skip
def test_listed_wordings_of_a_model_get_the_name_of_the_relation(
    wording: str, end: str, name: tuple[str, bool]
) -> None:
    assert names(stated((wording, 1), end=end, by_model=True)) == {wording: name}


@pytest.mark.parametrize("by_model", [True, False])
def test_a_wording_of_several_meanings_means_a_relation_only_between_fitting_kinds(
    by_model: bool,
) -> None:
    school = stated(("attended", 1), sorts=("person", "organisation"), by_model=by_model)
    opening = stated(("attended", 1), sorts=("person", "event"), by_model=by_model)
    assert names(school)["attended"] == ("educated at", False)
    assert names(opening)["attended"] == ("attended", False)
    actor = stated(("featured in", 1), sorts=("person", "work"), by_model=by_model)
    song = stated(("featured in", 1), sorts=("work", "work"), by_model=by_model)
    assert names(actor)["featured in"] == ("stars", True)
    assert names(song)["featured in"] == ("featured in", False)
    firm = stated(("partner of", 1), sorts=("person", "organisation"), by_model=by_model)
    ally = stated(("partner of", 1), sorts=("person", "person"), by_model=by_model)
    assert names(firm)["partner of"] == ("member of", False)
    assert names(ally)["partner of"][0].startswith("partner")
    singer = stated(("recorded", 1), sorts=("person", "work"), by_model=by_model)
    town = stated(("recorded", 1), sorts=("place", "unknown"), by_model=by_model)
    assert names(singer)["recorded"] == ("performed by", True)
    assert names(town)["recorded"] == ("recorded", False)


def test_a_model_and_the_rules_may_mean_different_relations_by_one_wording() -> None:
    both = pa.concat_tables([stated(("first mayor", 2), by_model=True), stated(("mayor", 1))])
    made = name_relations(both, NONE_KNOWN, NO_OVERRIDES, Ontology()).to_pylist()
    assert [row["relation"] for row in made] == ["first mayor", "mayor"]


def test_people_correct_what_a_model_wrote_word_for_word() -> None:
    table = stated(("first mayor", 1), ("mayor", 1), by_model=True)
    made = names(table, overrides=override("mayor", "head of town"))
    assert made == {"first mayor": ("first mayor", False), "mayor": ("head of town", False)}


def test_an_ontology_names_a_models_wording_if_it_has_it() -> None:
    made = names(stated(("directed by", 1), by_model=True), ontology=["director"])
    assert made == {"directed by": ("director", False)}
