"""Writes a relation path as a search program: the text that a language model would write."""

from collections.abc import Sequence

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
_LAST = """    answers.extend(names)
    return "\\n".join(messages)"""


def write_program(topic: str, path: Sequence[tuple[str, bool]]) -> str:
    """Return the program that walks a path of (relation, inverse) from a topic.

    Who asks for those that share a director with a film means others than the film, if there are.
    """
    relations = [f"{INVERSE_OF if inverse else ''}{relation}" for relation, inverse in path]
    code = _FIRST.format(topic=repr(topic), relation=repr(relations[0]))
    for relation in relations[1:]:
        code += _FURTHER.format(topic=repr(topic), relation=repr(relation))
    return code + _LAST
