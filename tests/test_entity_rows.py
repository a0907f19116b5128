"""The row of an entity: name, kind, language, counts, and how much an alias is its own."""

from tests.mention_tables import METAL, PLANET, alias, mention, run


def test_name_kind_and_counts_of_an_entity() -> None:
    rows = [
        mention("Marie Curie", "Marie Curie", "person"),
        mention("Marie Curie", "Curie", "person", mentions=9),
        mention("b", "Marie Curie", "unknown", mentions=2),
    ]
    (entity,) = run(rows).entities.to_pylist()
    del entity["entity_id"]
    counts = {"mentions": 12, "documents": 2}
    assert entity == {"name": "Marie Curie", "kind": "person", "language": "en", **counts}


def test_the_language_of_a_name_is_not_that_of_its_document() -> None:
    pairs = [("白水河", "en"), ("白水川", "ja"), ("Harbour Deck", "zh"), ("Dock码", "zh")]
    rows = [mention(name, name, language=spoken) for name, spoken in pairs]
    found = {row["name"]: row["language"] for row in run(rows).entities.to_pylist()}
    assert found == {"白水河": "zh", "白水川": "ja", "Harbour Deck": "und", "Dock码": "zh"}


def test_an_entity_bears_the_name_of_most_documents() -> None:
    rows = [
        mention("a", "Marie Curie", "person"),
        mention("b", "Marie Curie", "person"),
        mention("玛丽·居里", "玛丽·居里", "person", language="zh", mentions=9),
    ]
    (entity,) = run(rows, [alias("玛丽·居里", "玛丽·居里", "Marie Curie")]).entities.to_pylist()
    assert (entity["name"], entity["language"], entity["mentions"]) == ("Marie Curie", "en", 11)


def test_alias_weights_are_shares() -> None:
    rows = [
        mention("a", "Mercury", "place", title="Mercury (planet)", description=PLANET, mentions=3),
        mention("b", "Mercury", "thing", title="Mercury (element)", description=METAL, mentions=1),
    ]
    weights = [row["weight"] for row in run(rows).aliases.to_pylist() if row["alias"] == "Mercury"]
    assert sorted(weights) == [0.25, 0.75]
