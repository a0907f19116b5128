"""Common relations: what the file of names, wordings and inverses must hold to."""

import re

from tasks.text.relations.vocabulary import common_relations

KINDS = {"person", "place", "organisation", "work", "event", "thing", "date"}


def test_every_relation_is_whole() -> None:
    relations = common_relations()
    assert len(relations) > 120
    for property_id, relation in relations.items():
        assert re.fullmatch(r"P\d+", property_id)
        assert relation.name and relation.description and relation.wordings
        assert relation.head_kinds | relation.tail_kinds <= KINDS


def test_names_tell_relations_apart() -> None:
    names = [relation.name for relation in common_relations().values()]
    assert len(set(names)) == len(names)


def test_inverses_that_are_relations_lead_back() -> None:
    by_name = {relation.name: relation for relation in common_relations().values()}
    for relation in by_name.values():
        other = by_name.get(relation.inverse)
        if other and not relation.symmetric:
            assert other.inverse == relation.name, relation.name


def test_a_symmetric_relation_has_the_same_kinds_at_both_ends() -> None:
    for relation in common_relations().values():
        if relation.symmetric:
            assert relation.head_kinds == relation.tail_kinds
