"""Writes a relation path as a search program, as a language model would."""

from collections.abc import Sequence

from tasks.programs.planner.classes import Members
from tasks.programs.planner.endings import COMPARED, Ending
from tasks.programs.relation_matching import INVERSE_OF

_FIRST = """def search():
    messages = []
    found, message = find_entity_or_value(entity_aliases=[{topic}], relation_aliases=[{relation}])
    messages.append(message)
    names = found or []
"""
_FURTHER = """    if not names:
        return "\\n".join(messages)
    found, message = find_entity_or_value(entity_aliases=names, relation_aliases=[{relation}])
    messages.append(message)
    others = [name for name in found or [] if name != {topic}]
    names = others or found or []
"""
_MEMBERS = """    members = []
    for name in names:
        found, message = find_entity_or_value(entity_aliases=[name], relation_aliases=[{relation}])
        messages.append(message)
        if set(found or []) & {{{classes}}}:
            members.append(name)
    names = members
"""
_COUNTED = """    if names:
        answers.append(str(len(names)))
"""
# A value for each entity: equal values of two entities count twice.
_VALUED = """    values = {{}}
    for name in names[:{most}]:
        found, message = find_entity_or_value(entity_aliases=[name], relation_aliases=[{relation}])
        messages.append(message)
        if found:
            values[name] = found[0]
"""
_WHOSE = """    ordered = [v for v in sort_values(list(values.values())) if value_of(v) is not None]
    if ordered:
        answers.extend([name for name in values if compare(values[name], ordered[{place}]) == 0])
"""
_WHICH = """    ordered = [v for v in sort_values(names) if value_of(v) is not None]
    if ordered:
        answers.append(ordered[{place}])
"""
_COMPUTED = """    computed = {function}({values})
    if computed:
        answers.append(computed)
"""
_SET = """    answers.extend(names)
"""
_LAST = """    return "\\n".join(messages)"""
_DESCRIBED = """def search():
    info, message = get_entity_info(entity_aliases=[{name}])
    if info:
        answers.append(info)
    return message
"""
_RELATED = """def search():
    relations, message = find_relationship(entity1_aliases=[{one}], entity2_aliases=[{other}])
    answers.extend(relations or [])
    return message
"""
_PLACES = {"least": 0, "greatest": -1}
_FUNCTIONS = {"sum": "total", "average": "average"}


def write_description(name: str) -> str:
    """Return the program that describes an entity."""
    return _DESCRIBED.format(name=repr(name))


def write_relationship(one: str, other: str) -> str:
    """Return the program that finds the relations between two entities."""
    return _RELATED.format(one=repr(one), other=repr(other))


def write_program(
    topic: str,
    path: Sequence[tuple[str, bool]],
    ending: Ending | None = None,
    members: Members | None = None,
) -> str:
    """Return the program that walks a path of (relation, inverse) from a topic, to an ending.

    Only `members` of a class count, if given.
    """
    relations = [f"{INVERSE_OF if inverse else ''}{relation}" for relation, inverse in path]
    if ending is not None and ending.last:
        relations = relations[:-1]
    code = _FIRST.format(topic=repr(topic), relation=repr(relations[0]))
    for relation in relations[1:]:
        code += _FURTHER.format(topic=repr(topic), relation=repr(relation))
    if members:
        classes = ", ".join(map(repr, members.classes))
        code += _MEMBERS.format(relation=repr(members.relation), classes=classes)
    return code + _ended(ending) + _LAST


def _ended(ending: Ending | None) -> str:
    if ending is None:
        return _SET
    if ending.kind == "count":
        return _COUNTED
    attribute = ending.attribute
    valued = _VALUED.format(most=COMPARED, relation=repr(attribute)) if attribute else ""
    if ending.kind in _FUNCTIONS:
        values = "list(values.values())" if attribute else "names"
        return valued + _COMPUTED.format(function=_FUNCTIONS[ending.kind], values=values)
    return valued + (_WHOSE if attribute else _WHICH).format(place=_PLACES[ending.kind])
