"""What a thing is called besides its name, and whom a surname means in a document."""

import pytest

from tasks.publish.resolve.kinds import Believed
from tests.mention_tables import alias, groups, ids, mention, run


@pytest.mark.parametrize(
    ("names", "entities"),
    [
        (("Harbour Keepers", "Keepers"), 1), (("Court of Fisheries", "Court"), 1),
        (("Harbour Keepers", "Lighthouse Keepers", "Keepers"), 3),
        (("Harbour Keepers", "KEEPERS"), 2), (("HarbourSignalMap", "HSM"), 1),
        (("HarbourMap", "HM"), 2),
    ],
)  # fmt: skip
def test_a_noun_or_initials_alone_mean_the_only_name_with_them(
    names: tuple[str, ...], entities: int
) -> None:
    rows = [mention(document, name, "thing") for document in "de" for name in names]
    assert len(set(ids(run(rows)).values())) == entities


def test_a_noun_that_stands_elsewhere_without_the_name_is_not_it() -> None:
    rows = [mention(document, "Keepers", "thing") for document in "def"]
    rows += [mention(document, "Harbour Keepers", "thing") for document in "de"]
    assert len(set(ids(run(rows)).values())) == 2


@pytest.mark.parametrize(("documents", "entities"), [("d", 2), ("de", 1)])
def test_a_translation_stated_twice_outweighs_guessed_kinds(documents: str, entities: int) -> None:
    rows = [
        mention(document, name, kind, mentions=9, language="zh")
        for document in documents
        for name, kind in (("海港社区", "place"), ("HARBO", "person"))
    ]
    stated = [alias(document, "海港社区", "HARBO", "place") for document in documents]
    assert len(set(ids(run(rows, stated)).values())) == entities


def test_a_translation_is_of_the_words_before_it_not_of_the_name_they_begin_with() -> None:
    rows = [mention("d", "Harbour", "thing", mentions=20), mention("d", "灯架构", "thing")]
    rows += [mention("d", "Harbour推进灯架构", "thing"), mention("d", "Lampen", "thing")]
    found = ids(run(rows, [alias("d", "Harbour推进灯架构", "Lampen", "thing")]))
    assert found["d", "Harbour推进灯架构"] == found["d", "Harbour"] != found["d", "Lampen"]


def test_an_office_of_the_state_is_the_same_with_its_name() -> None:
    rows = [
        mention("d", "中华人民共和国灯塔部", "organisation"),
        mention("e", "灯塔部", "organisation"),
    ]
    assert len(groups(run(rows))) == 1


@pytest.mark.parametrize(
    ("notes", "entities"), [(("20250401", "20250402"), 1), (("1953", "1997"), 2)]
)
def test_dates_tell_issues_apart_years_works(notes: tuple[str, ...], entities: int) -> None:
    rows = [mention(note, "Harbour Hour", "work", title=f"Harbour Hour ({note})") for note in notes]
    assert len(groups(run(rows))) == entities


def test_a_person_is_called_without_what_they_are() -> None:
    rows = [mention("d", "Republican Dwilla Hask", "person"), mention("d", "Dwilla Hask", "person")]
    assert [row["name"] for row in run(rows).entities.to_pylist()] == ["Dwilla Hask"]


def names_of(*names: str, kind: str = "organisation") -> set[str]:
    """Return the aliases of the first name, where a text states all others as such."""
    rows = [mention("d", names[0], kind) for _ in range(2)]
    rows += [mention("d", name, kind) for name in names[1:]]
    stated = [alias("d", names[0], name, kind) for name in names[1:]]
    return set(run(rows, stated).aliases["alias"].to_pylist())


@pytest.mark.parametrize(
    "form",
    ["Inc", "Market", "Fish-Market Nets", "Fish Market Net", "Fish Mar- ket Nets", "Nets (Fish"],
)
def test_what_spells_or_cuts_a_name_is_no_other_name(form: str) -> None:
    assert names_of("Fish Market Nets", form) == {"Fish Market Nets"}


def test_a_persons_name_without_the_surname_is_no_other_name() -> None:
    own = {"Ada Maria Berg", "Berg"}
    assert names_of("Ada Maria Berg", "Ada Maria", "Berg", kind="person") == own


@pytest.mark.parametrize("form", ["FMN", "Ocean Nets"])
def test_another_name_is_an_alias(form: str) -> None:
    assert names_of("Fish Market Nets", form) == {"Fish Market Nets", form}


def test_a_persons_name_is_among_its_aliases_if_it_only_stands_with_an_address() -> None:
    resolved = run([mention("d", "Mr. Odo Fenwick", "person")])
    assert resolved.entities["name"].to_pylist() == ["Odo Fenwick"]
    assert resolved.aliases["alias"].to_pylist() == ["Odo Fenwick"]


FIRST = mention("d", "Jo Moret", "person", first_said=10)
ALONE = mention("d", "Moret", "person", mentions=8, first_said=30)
LATER = mention("d", "Ann Moret", "person", first_said=90)


@pytest.mark.parametrize("aliases", [[], [alias("d", "Ann Moret", "Moret", "person")]])
def test_a_surname_means_who_was_named_before_it_stands_alone(aliases: list) -> None:
    found = ids(run([FIRST, ALONE, LATER], aliases))
    assert found["d", "Moret"] == found["d", "Jo Moret"] != found["d", "Ann Moret"]


def test_a_surname_that_two_persons_had_before_it_stands_alone_means_neither() -> None:
    found = ids(run([FIRST, ALONE | {"first_said": 95}, LATER]))
    assert len(set(found.values())) == 3


def test_a_form_of_address_makes_no_second_bearer_of_a_surname() -> None:
    rows = [FIRST, ALONE, mention("d", "Monsieur Moret", "person", first_said=50)]
    assert len(set(ids(run(rows)).values())) == 1


@pytest.mark.parametrize(("persons", "entities"), [(3, 1), (1, 2)])
def test_a_surname_may_be_taken_for_a_place_at_some_mentions(persons: int, entities: int) -> None:
    rows = [
        FIRST,
        mention("d", "Moret", "person", mentions=persons),
        mention("d", "Moret", "place", mentions=9 - persons),
    ]
    assert len(set(ids(run(rows)).values())) == entities


@pytest.mark.parametrize(
    ("more", "entities"),
    [
        ({}, 1),
        ({"kind_stated": True}, 2),
        ({"kind": "place"}, 2),
    ],
)
def test_a_guess_makes_no_organisation_of_a_persons_surname(more: dict, entities: int) -> None:
    full = mention("d", "Ida Moret", "person", kind_stated=True)
    rows = [full, mention("d", "Moret", "organisation", mentions=3) | more]
    assert len(groups(run(rows))) == entities
    company = mention("d", "Moret Pumps", "organisation")
    assert len(groups(run([*rows, company]))) == 3


def test_a_surname_joins_its_bearer_whose_full_name_has_two_spellings() -> None:
    rows = [mention("d", name, "person") for name in ("Ida L. Moret", "Ida Lea Moret", "Moret")]
    assert len(groups(run(rows))) == 1
    other = mention("d", "Ida Pia Moret", "person")
    assert len(groups(run([*rows, other]))) == 3


def test_no_guess_contradicts_what_texts_state_of_a_name_of_several_words() -> None:
    rows = [
        mention("d", "Jo Moret", "place", kind_stated=False),
        mention("d", "Moret", "person", kind_stated=False, mentions=8),
        mention("e", "Jo Moret", "person", kind_stated=True),
    ]
    resolution = run(rows)
    assert len(set(ids(resolution).values())) == 1
    assert [entity["kind"] for entity in resolution.entities.to_pylist()] == ["person"]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Secretary of Trade Ann Moret", "Secretary"),  # an office that several have
        ("Moret and Tal", "Moret"),
        ("Supports Moret", "Moret"),  # a verb before a name
        ("Charting Moret", "Moret"),
    ],
)
def test_what_is_no_name_of_one_person_has_no_surname(name: str, short: str) -> None:
    rows = [mention("d", name, "person"), mention("d", short, "person", mentions=9)]
    assert len(set(ids(run(rows)).values())) == 2


def test_a_word_in_capitals_is_no_person_unless_the_document_writes_persons_so() -> None:
    pair = [mention("d", "Ada", "person"), mention("d", "ADA", "thing")]
    assert len(groups(run(pair))) == 2
    assert len(groups(run([pair[0], mention("d", "ADA", "person")]))) == 1
    several = [mention("d", "Eva", "person"), mention("d", "EVA", "organisation")]
    assert len(groups(run([*pair, *several]))) == 2
    full = [mention("e", "Ada Moe", "person", mentions=9), mention("d", "Ada Moe", "person")]
    found = ids(run([*pair, *full]))
    assert found["d", "Ada"] == found["d", "Ada Moe"] != found["d", "ADA"]


def test_a_kind_is_guessed_apart_for_a_word_in_capitals() -> None:
    of_kinds = {"Ada": [0.0, -9, -9, -9, -9, -9], "ADA": [-9, -9, -9, -9, -9, 0.0]}
    rows = [
        {"name": name, "kind": "unknown", "mentions": 1, "scored": 1, "kind_scores": scores}
        for name, scores in of_kinds.items()
    ]
    assert [Believed(rows).kind(row) for row in rows] == ["person", "thing"]


@pytest.mark.parametrize(
    ("name", "guessed", "entities"),
    [
        ("Norwich Port Prosecutor Ida Moe", "organisation", 1),
        ("Ulm Dyke Officer Ida Moe", "thing", 1),
        ("Judge Ida Moe", "place", 1),
        ("Office of Judge Ida Moe", "organisation", 2),
        ("The Trial Judge Ida Moe", "work", 2),
        ("Norwich Hotel Ida Moe", "organisation", 2),
    ],
)
def test_a_name_after_an_office_is_the_persons(name: str, guessed: str, entities: int) -> None:
    rows = [mention("d", name, guessed, mentions=9), mention("d", "Ida Moe", "person")]
    found = run([*rows, mention("e", name, guessed)]).entities.to_pylist()
    assert len(found) == entities
    assert ("Ida Moe", "person") in {(row["name"], row["kind"]) for row in found}


def test_a_full_name_that_one_document_has_beside_a_longer_one_may_be_the_commonest() -> None:
    rows = [mention("d", "Supervisor Ida Moe", "person", kind_stated=True), mention("d", "Ida Moe")]
    rows += [mention(document, "Ida Moe", "person") for document in "efg"]
    assert [row["name"] for row in run(rows).entities.to_pylist()] == ["Ida Moe"]
