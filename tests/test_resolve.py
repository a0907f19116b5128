"""Two names are one entity, or two, within a document and across documents."""

import random
from typing import Any

import pytest

from tests.mention_tables import METAL, PLANET, alias, groups, ids, mention, run

Rows = list[dict[str, Any]]


def together(*names: str, kind: str = "unknown", **more: str) -> Rows:
    """Mentions in one document."""
    return [mention("d", name, kind, **more) for name in names]


def apart(*names: str, kind: str = "unknown") -> Rows:
    """Mentions in a document each."""
    return [mention(f"d{at}", name, kind) for at, name in enumerate(names)]


def of_kinds(**kinds: str) -> Rows:
    """Mentions in one document, each of a kind of its own."""
    return [mention("d", name.replace("_", " "), kind) for name, kind in kinds.items()]


ONE_WITHIN_A_DOCUMENT = {
    "spellings": of_kinds(**{"J. R. R. Tolkien": "person", "J.R.R. Tolkien": "unknown"}),
    "surname": together("Marie Curie", "Curie", kind="person"),
    "given name": together("Marie Curie", "Marie", kind="person"),
    "middle name": together("Ada Byron Lovelace", "Ada Lovelace", "Lovelace", kind="person"),
    "form of address": of_kinds(Sir_Isaac_Newton="person", Isaac_Newton="unknown"),
    "address and surname": of_kinds(Nora_Field="person", President_Field="unknown"),
    "surname of a son": together("Otto Brandl, Jr.", "Brandl", kind="person"),
    "married name": together("Ida (Brandl) Moe", "Ida Moe", "Moe", kind="person"),
    "of a town": together("Ida Moe of Ulm", "Ida Moe", kind="person"),
    "the elder": together("Brandl the Elder", "Brandl", kind="person"),
    "title's surname": [
        mention("Marie Curie", name, "person") for name in ("Marie Curie", "Curie")
    ],
    "legal form": of_kinds(Intel_Corporation="organisation", Intel="unknown"),
    "initials": of_kinds(World_Health_Organization="organisation", WHO="unknown"),
    "initials of another guessed kind": of_kinds(Water_Store_Agency="organisation", WSA="thing"),
    "note": together("Mercury (planet)", "Mercury", kind="place"),
    "title's note": [
        mention("d", name, kind, title="Mercury (planet)")
        for name, kind in (("Mercury", "place"), ("mercury", "thing"))
    ],
    "two kinds of one name": [mention("d", "Curie", kind) for kind in ("person", "place")],
    "Chinese surname": together("玛丽·居里", "居里", kind="person", language="zh"),
    "plural": together("Window", "Windows"),
    "plural of an acronym": together("Cdk", "Cdks"),
}
APART_WITHIN_A_DOCUMENT = {
    "two of one surname": together("Marie Curie", "Pierre Curie", "Curie", kind="person"),
    "part of an organisation's name": of_kinds(
        Strelsau_University="organisation", Strelsau="place"
    ),
    "a place like a surname": of_kinds(Jack_London="person", London="place"),
    "lower case is no acronym": of_kinds(World_Health_Organization="organisation", who="unknown"),
    "first word of several names": [
        mention("Strelsau Code", "Strelsau Code", "organisation"),
        mention("elsewhere", "Strelsau Handbook", "thing"),
        mention("Strelsau Code", "Strelsau", "organisation"),
    ],
    "two notes": together("Georgia (country)", "Georgia (state)", kind="place"),
    "a father and a son": together("Otto Brandl", "Otto Brandl, Jr.", kind="person"),
    "two generations of a longer name": together(
        "Otto Max Brandl III", "Otto Brandl", "Otto Brandl Sr.", kind="person"
    ),
    "a mother and a son with her maiden name": together(
        "Ida (Brandl) Moe", "Brandl Moe", kind="person"
    ),
    "namesakes of two towns": together("Ida Moe of Ulm", "Ida Moe of Riga", kind="person"),
    "two companions": together("Henry V", "Henry VI", kind="person"),
    "two names that differ by an s": together("Adam", "Adams"),
    "two acronyms that differ by an S": together("CA", "CAS"),
    "a lord and a lady": together("Lord Ashby", "Lady Ashby", kind="person"),
    "a man's full name and a woman's title": together("Sir Hugh Marsh", "Mrs Marsh", kind="person"),
    "a couple in Chinese": together("周先生", "周女士", kind="person", language="zh"),
    "parts of a name that are a letter or a small word": together(
        "hepatitis B", "B", "cytotoxic Tee", "Tee", kind="person"
    ),
    "a list is nobody's name": together("Gum Silva Gutta Kino Latex", "Silva", kind="person"),
    "a name twice is nobody's name": together("Silva Silva", "Silva", kind="person"),
}


@pytest.mark.parametrize("rows", ONE_WITHIN_A_DOCUMENT.values(), ids=ONE_WITHIN_A_DOCUMENT)
def test_one_thing_within_a_document(rows: Rows) -> None:
    assert len(run(rows).entities) == 1


@pytest.mark.parametrize("rows", APART_WITHIN_A_DOCUMENT.values(), ids=APART_WITHIN_A_DOCUMENT)
def test_different_things_within_a_document(rows: Rows) -> None:
    assert len(run(rows).entities) == len(rows)


def test_a_shared_surname_means_whom_the_document_is_about() -> None:
    title = "Marie Curie"
    rows = [mention(title, name, "person") for name in ("Marie Curie", "Pierre Curie", "Curie")]
    found = ids(run(rows))
    assert found[title, "Curie"] == found[title, "Marie Curie"] != found[title, "Pierre Curie"]


def test_a_stated_alias_joins_and_gets_assigned_even_if_it_is_nowhere_else() -> None:
    rows = [mention("d", "Royal Society of London", "organisation"), mention("d", "Royal Society")]
    assert len(run(rows).entities) == 2
    stated = [
        alias("d", "Royal Society of London", "the Royal Society"),
        alias("d", "Royal Society of London", "RS"),
    ]
    found = ids(run(rows, stated))
    assert len(set(found.values())) == 1
    assert {name for _, name in found} >= {"the Royal Society", "RS"}


def test_a_surname_before_both_spouses_joins_neither_to_the_other() -> None:
    found = ids(run(together("Ashby", "Mr. Ashby", "Mrs. Ashby", kind="person")))
    assert found["d", "Mr. Ashby"] != found["d", "Mrs. Ashby"]


def test_names_that_a_model_tells_apart_are_joined_by_an_alias_alone() -> None:
    rows = together("Anton Tilford", "Mr. Tilford", kind="person")
    apart = [("d", "Anton Tilford", "Mr. Tilford")]
    assert len(run(rows).entities) == 1
    assert len(run(rows, distinct=apart).entities) == 2
    stated = [alias("d", "Anton Tilford", "Mr. Tilford", "person")]
    assert len(run(rows, stated, distinct=apart).entities) == 1


@pytest.mark.parametrize(
    ("name", "other", "entities"),
    [
        ("Inga Thole", "the chair", 2),
        ("acetylsalicylic acid", "aspirin", 1),
        ("海棠中学", "学校", 2),
    ],
)
def test_a_role_that_one_document_gives_somebody_means_another_elsewhere(
    name: str, other: str, entities: int
) -> None:
    rows = [mention("a", name), mention("a", other), mention("b", other)]
    assert len(run(rows, [alias("a", name, other)]).entities) == entities


def test_a_place_and_its_namesake_that_a_model_relates_to_it_are_two() -> None:
    rows = together("Carew", "Carew, Oregon", kind="place")
    assert len(run(rows).entities) == 1
    assert len(run(rows, distinct=[("d", "Carew", "Carew, Oregon")]).entities) == 2


RICH = (
    "an Austrian cellist and teacher known for recordings of contemporary music",
    "the patron of a seal sanctuary on the coast of Norway",
)


def described(name: str, *more: dict[str, str], kind: str = "person") -> Rows:
    """Two documents that describe a name quite differently, with further columns."""
    columns = more or ({}, {})
    return [
        mention(f"d{at}", name, kind, description=text, **columns[at])
        for at, text in enumerate(RICH)
    ]


@pytest.mark.parametrize("name", ["Ilse Marbach", "Wilhelmina Otto Grassi", "郑秋萍"])
def test_a_rare_full_name_means_one_person_however_it_is_described(name: str) -> None:
    assert len(run(described(name)).entities) == 1


@pytest.mark.parametrize(
    "rows",
    [
        described("John Smith"),
        described("Marbach"),
        described("王伟"),
        described("Marbach Observatory", kind="organisation"),
        described("Ilse Marbach", {"born": "1981-03-12"}, {"born": "1950"}),
        described("Ilse Marbach", {"died": "1981"}, {"died": "1950"}),
    ],
)
def test_other_names_are_told_apart_by_descriptions_and_rare_ones_by_dates(rows: Rows) -> None:
    assert len(run(rows).entities) == 2


def test_a_year_of_birth_fits_any_of_its_days() -> None:
    rows = described("Ilse Marbach", {"born": "1981-03-12"}, {"born": "1981"})
    assert len(run(rows).entities) == 1


NAMESAKES = {
    "notes": [
        mention("a", "Mercury", "thing", title="Mercury (planet)"),
        mention("b", "Mercury", "thing", title="Mercury (element)"),
    ],
    "descriptions": [
        mention("a", "Mercury", "thing", description=PLANET),
        mention("b", "Mercury", "thing", description=METAL),
    ],
    "kinds": [mention("a", "Amazon", "place"), mention("b", "Amazon", "organisation")],
    "titles of two kinds": [
        mention("Jack London", "Jack London", "person"),
        mention("b", "Jack London", "place", description="a square on the waterfront of Oakland"),
    ],
    "one-word descriptions by title": [
        mention("a", "Dune", "work", title="Dune (novel)", description="a novel"),
        mention("b", "Dune", "work", title="Dune (film)", description="a film"),
    ],
    "comma": [mention("a", "Paris, Texas", "place"), mention("b", "Paris, France", "place")],
    "works of two years": [
        mention("a", "The Hunger (1940 film)", "work", description="a 1940 Hindi drama film"),
        mention("b", "The Hunger", "work", description="a 1981 Hindi drama film"),
    ],
}


@pytest.mark.parametrize("rows", NAMESAKES.values(), ids=NAMESAKES)
def test_namesakes_stay_apart(rows: Rows) -> None:
    assert len(run(rows).entities) == 2


@pytest.mark.parametrize(
    ("name", "kind", "context", "document"),
    [
        ("Mercury", "unknown", "a probe was sent to the planet closest to the Sun", "a"),
        ("Mercury", "unknown", "the metal is liquid; the element was sold in flasks", "b"),
        ("Mercury (planet)", "unknown", "", "a"),
        ("Mercury", "unknown", "nothing to go by", "b"),  # the one most spoken of
        ("Mercury", "person", "the metal is liquid", "b"),  # the kind is a wrong guess
        ("Mercury", "person", "sang in a band", "c"),  # of another kind than both
    ],
)
def test_a_name_means_the_namesake_that_fits(
    name: str, kind: str, context: str, document: str
) -> None:
    rows = [
        mention("a", "Mercury", "place", title="Mercury (planet)", description=PLANET, mentions=3),
        mention("b", "Mercury", "thing", title="Mercury (element)", description=METAL, mentions=5),
        mention("c", name, kind, context=context),
    ]
    found = ids(run(rows))
    assert found["a", "Mercury"] != found["b", "Mercury"]
    same = [where for where in "ab" if found[where, "Mercury"] == found["c", name]]
    assert same == ([document] if document != "c" else [])


DESCRIBED = {  # name and kind, and what two documents or more say of it
    "in two ways": (
        "Marie Curie", "person",
        "a Polish-French physicist and chemist", "the physicist who discovered radium",
    ),
    "by a word": (
        "Hubert Mordek", "person", "a German historian of the Middle Ages", "writer"
    ),
    "by what he did": (
        "Hubert Mordek", "person", "a German historian of the Middle Ages",
        "He was one of two editors of a law book in 1983",
    ),
    "by remarks": (
        "Ruritania", "place",
        "Ruritania is a partner to trust", "Ruritania is the country of the brave", "", "", "",
    ),
    "by a remark with the name": (
        "Graphite", "unknown", "Graphite is a passive time series database",
        "Graphite may be a better choice for long storage",
    ),
}  # fmt: skip


@pytest.mark.parametrize("described", DESCRIBED.values(), ids=DESCRIBED)
def test_remarks_and_other_words_are_no_definitions_that_differ(described: tuple[str, ...]) -> None:
    name, kind, *texts = described
    rows = [mention(f"d{at}", name, kind, description=text) for at, text in enumerate(texts)]
    assert len(run(rows).entities) == 1


def test_a_wrong_guess_at_a_kind_makes_no_namesake() -> None:
    """Kinds of passing mentions are guesses of a small model."""
    rows = [
        mention("Niels Bohr", "Niels Bohr", "person"),
        mention("b", "Niels Bohr", "place"),
        *(mention(document, "Europe", "place") for document in "bcd"),
        mention("e", "Europe", "person"),
    ]
    assert len(run(rows).entities) == 2


def test_a_company_that_is_called_a_thing_elsewhere_is_one_entity() -> None:
    described = mention(
        "a", "Brandlware", "organisation", description="a maker of tide tables in Ulm"
    )
    rows = [described, mention("b", "Brandlware", "thing", context="staff pay into a pension")]
    assert len(run(rows).entities) == 1


def test_a_phrase_is_no_alias() -> None:
    rows = [mention("d", "Peter Keyser", "person"), mention("e", "in Philadelphia", "person")]
    assert len(run(rows, [alias("d", "Peter Keyser", "in Philadelphia")]).entities) == 2


def test_an_alias_stated_once_holds_elsewhere() -> None:
    long = "National Aeronautics and Space Administration"
    rows = [mention("a", long, "organisation"), mention("b", "NASA", "organisation")]
    found = ids(run([*rows, mention("c", "NASA", "person")], [alias("a", long, "NASA")]))
    assert found["a", long] == found["b", "NASA"] != found["c", "NASA"]


def test_an_ambiguous_alias_joins_nobody() -> None:
    names = ("Belmora United", "Dornelas United", "United")
    stated = [alias(f"d{at}", name, "United") for at, name in enumerate(names[:2])]
    assert len(run(apart(*names, kind="organisation"), stated).entities) == 3


def test_what_a_text_states_as_an_alias_prevails_over_what_may_be_one() -> None:
    rows = [
        mention("a", "General Services Administration", "organisation"),
        mention("GSA Pages", "GSA Pages", "organisation"),
        mention("b", "GSA", "organisation"),
    ]
    found = ids(run(rows, [alias("a", "General Services Administration", "GSA")]))
    assert found["a", "General Services Administration"] == found["b", "GSA"]


def guesses(kinds: str) -> Rows:
    """One row per letter: a word that its own document guesses to be a person, place or thing."""
    kind_of = {"p": "person", "l": "place", "o": "organisation"}
    return [
        mention(f"{name} {at}", name, kind_of[kind], title=str(at))
        for name in ("Prometheus", *(f"Tool{number}" for number in range(20)))
        for at, kind in enumerate(kinds)
    ]


def test_namesakes_whose_guessed_kinds_contradict_are_one_of_no_known_kind() -> None:
    entities = run(guesses("plollpo")).entities.to_pylist()
    assert len(entities) == 21
    found = {(e["name"], e["kind"], e["documents"]) for e in entities}
    assert ("Prometheus", "unknown", 7) in found


def test_guesses_that_agree_and_kinds_that_are_stated_are_believed() -> None:
    assert {e["kind"] for e in run(guesses("lll")).entities.to_pylist()} == {"place"}
    stated = mention("s", "Prometheus", "organisation") | {"kind_stated": True}
    kinds = {e["name"]: e["kind"] for e in run([*guesses("plollpo"), stated]).entities.to_pylist()}
    assert kinds["Prometheus"] == "organisation"


def test_the_kind_in_an_alias_is_doubted_like_any_guess() -> None:
    stated = [alias("x", "Zenith", "Zen", "person")]
    kinds = {e["name"]: e["kind"] for e in run(guesses("plollpo"), stated).entities.to_pylist()}
    assert kinds["Zenith"] == "unknown"


VARIANTS = {
    "acronym": ("KEP", "KEPs"),
    "plural": ("GSA Website Manager", "GSA Website Managers"),
    "space": ("HR Links", "HRLinks"),
    "article": ("the Prometheus server", "Prometheus server"),
    "case": ("SIG node", "SIG Node"),
    "state": ("Harbour Safety Board", "U.S. Harbour Safety Board"),
    **{f"part {part}": ("Norland", f"Norland{part}")
       for part in ("（四）", "（下）", " (2)", " (IV)", "（第三部）")},
}  # fmt: skip


@pytest.mark.parametrize("names", VARIANTS.values(), ids=VARIANTS)
def test_variants_and_parts_of_a_series_are_one_entity(names: tuple[str, str]) -> None:
    assert len(run(apart(*names)).entities) == 1


@pytest.mark.parametrize(
    "names",
    ["Adam/Adams", "Paul Robert/Paul Roberts", "US A/USA", "Window/Windows", "Open/US Open"],
)
def test_names_that_only_look_like_variants_stay_apart(names: str) -> None:
    assert len(run(apart(*names.split("/"))).entities) == 2


def test_what_a_table_has_in_two_cells_is_two_things() -> None:
    for pair in (("Castle Brook", "Castlebrook"), ("Northern Ebb Dominion", "NED")):
        cells = [mention("d", name, laid_out=True) for name in pair]
        assert len(run(cells).entities) == 2
        assert len(run([*cells[:1], mention("d", pair[1])]).entities) == 1
    assert len(run(together("Castle Brook", "Castlebrook", kind="place")).entities) == 2


def test_what_a_person_is_makes_no_other_person() -> None:
    rows = [
        mention("a", "Sociologist Nora Field", "person"),
        mention("b", "Nora Field", "person", mentions=2),
    ]
    assert [row["name"] for row in run(rows).entities.to_pylist()] == ["Nora Field"]
    rows[0]["name"] = "Lina Nora Field"
    assert len(run(rows).entities) == 2


def test_an_organisation_without_its_noun_is_one_with_it_only_where_both_stand_together() -> None:
    rows = [
        mention(document, name, kind)
        for document in "ab"
        for name, kind in (("Laker University", "organisation"), ("Laker", "place"))
    ]
    assert len(run(rows).entities) == 1
    assert len(run([*rows, mention("c", "Laker", "place")]).entities) == 2


def test_a_chain_of_aliases_never_joins_what_is_known_to_differ() -> None:
    rows = [
        mention("a", "Mercury", "thing", description=PLANET),
        mention("b", "Mercury", "thing", description=METAL),
        mention("a", "Swift Planet", "thing"),
        mention("b", "Quicksilver", "thing"),
        mention("c", "Swift Planet", "thing"),
        mention("c", "Quicksilver", "thing"),
    ]
    stated = [
        alias("a", "Mercury", "Swift Planet"),
        alias("b", "Mercury", "Quicksilver"),
        alias("c", "Swift Planet", "Quicksilver"),
    ]
    found = ids(run(rows, stated))
    assert found["a", "Mercury"] != found["b", "Mercury"]


def test_a_surname_elsewhere_means_its_only_bearer() -> None:
    rows = [
        mention("a", "Albert Einstein", "person"),
        mention("a", "Einstein", "person"),
        mention("b", "Einstein", "person", mentions=9),
    ]
    assert run(rows).entities["name"].to_pylist() == ["Albert Einstein"]
    assert len(run([*rows, mention("c", "Alfred Einstein", "person")]).entities) == 3


def test_near_spellings_join_only_with_like_descriptions() -> None:
    one = mention("a", "Wolfgang Amadeus Mozart", "person", description="an Austrian composer")
    other = mention("b", "Wolfgang Amadeus Mozzart", "person", description="an Austrian composer")
    assert len(run([one, other]).entities) == 1
    assert len(run([one, other | {"description": "a footballer of Serbia"}]).entities) == 2
    assert len(run([one, other | {"kind": "work"}]).entities) == 2


def test_a_probe_is_not_the_person_whose_surname_it_bears() -> None:
    rows = [
        mention("mission", "Huygens (thing)", "thing"),
        mention("mission", "Huygens", "person", mentions=5),
        mention("mission", "Christiaan Huygens", "person"),
        mention("planet", "Christiaan Huygens", "person", mentions=3),
        mention("planet", "Huygens", "person"),
    ]
    places = [(row["document_id"], row["name"]) for row in rows]
    result = run(rows, [alias("planet", "Christiaan Huygens", "Huygens", "person")])
    assert groups(result) == {frozenset(places[:2]), frozenset(places[2:])}
    assert {e["name"] for e in result.entities.to_pylist()} == {"Huygens", "Christiaan Huygens"}


def test_a_person_is_called_without_form_of_address() -> None:
    result = run([mention("d", "Sir Isaac Newton", "person"), mention("e", "Lord Byron", "person")])
    assert {e["name"] for e in result.entities.to_pylist()} == {"Isaac Newton", "Lord Byron"}
    named = [mention("Brook", name, "person") for name in ("Brook", "Ada Lee Brook")]
    result = run(named, [alias("Brook", "Ada Lee Brook", "Brook", "person")])
    assert [e["name"] for e in result.entities.to_pylist()] == ["Ada Lee Brook"]


def test_two_homes_fed_alike_agree() -> None:
    rows = [row for rows in (*NAMESAKES.values(), *ONE_WITHIN_A_DOCUMENT.values()) for row in rows]
    shuffled = rows[:]
    random.Random(5).shuffle(shuffled)
    assert run(rows) == run(shuffled)


def test_a_title_makes_no_other_name() -> None:
    rows = [
        mention("d", "Rick Sanchez", "person", mentions=3),
        mention("d", "Commander Rick Sanchez", "person"),
    ]
    resolved = run(rows, [alias("d", "Rick Sanchez", "Commander Rick Sanchez", "person")])
    assert len(resolved.entities) == 1
    assert resolved.aliases["alias"].to_pylist() == ["Rick Sanchez"]


def test_an_acronym_in_parentheses_is_the_other_name() -> None:
    rows = [mention("d", "Long River Council (LRC)", "organisation")]
    assert run(rows).aliases["alias"].to_pylist() == ["LRC", "Long River Council"]


def test_two_letters_are_no_unstated_short_form() -> None:
    rows = [mention("d", "Implementation Playbook"), mention("d", "IP")]
    assert len(run(rows).entities) == 2
    assert len(run(rows, [alias("d", "Implementation Playbook", "IP")]).entities) == 1


@pytest.mark.parametrize("gloss", ["（River Store，简称 RVST）", "（River Store, RVST）"])
def test_a_name_with_a_gloss_and_what_the_gloss_gives_are_one_entity(gloss: str) -> None:
    rows = [mention("d", f"河流交换库{gloss}"), mention("d", "RVST"), mention("e", "河流交换库")]
    assert len(groups(run(rows))) == 1
