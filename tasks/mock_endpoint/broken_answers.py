"""Answers broken on purpose: the true answer with the kind of fault that `content` shows.

The contents show faults in replies of some other schema. Here the same fault is applied to the true
answer, so that the client's handling of the fault is tested and not that of the schema. Contents
with an unknown fault are served unchanged.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson
from pydantic import TypeAdapter

from tasks.models.prompts import replies

CELL = "@@cell@@"
HUGE = 10_000_000  # characters
NO_KEY = "sk-CANARYKEY123"
FACTS: dict[str, type[Any]] = {
    "triples": replies.TripleReply,
    "entities": replies.EntityReply,
    "aspects": replies.AspectReply,
}
OTHERS = {"doc_id": "OTHER-DOC", "run_id": "OTHER-RUN", "confidence": 1.0}
INVENTED = ["INVENTED-XYZ", "is", "TRUE", "INVENTED-XYZ is TRUE"]

Reply = dict[str, Any]


def broken(fault: str, content: str, answer: str, prompt: str, key: str | None) -> str:
    """Return the text served instead of an answer; `content` is that of the fault's line."""
    if fault == "body_echo_prompt":
        return prompt
    if fault == "body_echo_key":
        return _with_cell(_parsed(answer), json.dumps(key or NO_KEY))
    if fault in AROUND:
        return AROUND[fault](answer)
    if fault in CELLS:
        return _with_cell(_parsed(answer), CELLS[fault])
    if fault in WITHIN:
        return WITHIN[fault](_parsed(answer))
    return content


def _parsed(answer: str) -> Reply:
    value = orjson.loads(answer)
    return value if isinstance(value, dict) else {"answer": value}


def _first_fact(reply: Reply) -> list[Any] | None:
    return next((reply[form][0] for form in FACTS if reply.get(form)), None)


def _first_field(reply: Reply) -> str:
    return next(iter(reply), "answer")


def _with_cell(reply: Reply, raw: str) -> str:
    """Return the answer with one of its texts replaced by raw JSON."""
    fact = _first_fact(reply)
    if fact is not None:
        fact[min(2, len(fact) - 1)] = CELL
    else:
        reply[_first_field(reply)] = CELL
    return _dumps(reply).replace(f'"{CELL}"', raw)


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def _wrong_types(reply: Reply) -> str:
    fact = _first_fact(reply)
    if fact is None:
        return _dumps(dict.fromkeys(reply, 1))
    fact[:3] = [1, None, ["x"]]
    return _dumps(reply)


def _missing_field(reply: Reply) -> str:
    fact = _first_fact(reply)
    if fact is not None:
        del fact[2:]
    else:
        reply.pop(_first_field(reply), None)
    return _dumps(reply)


def _extra_fields(reply: Reply) -> str:
    """Return the answer's facts as objects with additional keys."""
    for form, shape in FACTS.items():
        reply[form] = [
            {**as_object(shape, fact), "__class__": "x", "id": "; DROP", **OTHERS}
            for fact in reply.get(form, [])
        ]
    return _dumps({**reply, **OTHERS})


def as_object(shape: type[Any], fact: list[Any]) -> dict[str, Any]:
    """Return a fact given as a row or an object as an object with all its fields."""
    read = TypeAdapter(shape).validate_python(fact)
    names = getattr(shape, "model_fields", None) or shape._fields
    return {name: getattr(read, name) for name in names}


def _not_in_source(reply: Reply) -> str:
    if "triples" in reply:
        reply["triples"].append(INVENTED)
    else:
        reply[_first_field(reply)] = "INVENTED-XYZ is TRUE"
    return _dumps(reply)


AROUND: dict[str, Callable[[str], str]] = {
    "body_truncated": lambda answer: answer[: len(answer) * 3 // 5],
    "body_truncated_length": lambda answer: answer[: len(answer) * 3 // 5],
    "body_fenced": lambda answer: f"```json\n{answer}\n```",
    "body_prose_before": lambda answer: f"Sure! Here is the JSON:\n{answer}",
    "body_two_objects": lambda answer: answer + answer,
    "body_trailing_comma": lambda answer: answer[:-1] + ",}",
    "body_bom": lambda answer: "\ufeff" + answer,
}
CELLS = {  # what replaces a text
    "body_nan": "NaN",
    "body_huge_int": "9" * 5000,
    "body_surrogate": r'"\ud800"',
    "body_nul": r'"A\u0000B"',
}
WITHIN: dict[str, Callable[[Reply], str]] = {
    "body_single_quotes": repr,
    "body_huge_10mb": lambda reply: _dumps({**reply, "pad": "x" * HUGE}),
    "body_wrong_types": _wrong_types,
    "body_missing_field": _missing_field,
    "body_extra_fields": _extra_fields,
    "body_dup_keys": lambda reply: f'{{"{_first_field(reply)}":[],' + _dumps(reply)[1:],
    "body_not_in_source": _not_in_source,
}


def loop_of_facts(answer: str) -> tuple[bytes, bytes, bytes]:
    """Return the start, a further fact and the end of an endless reply, escaped as a JSON text."""
    fact = _first_fact(_parsed(answer)) or []
    row = _dumps(fact if len(fact) == 4 else ["A", "p", "B", "A"])
    whole = f'{{"entities":[],"triples":[{row}{CELL}],"aspects":[]}}'
    start, end = _escaped(whole).split(CELL.encode())
    return start, _escaped("," + row), end


def _escaped(text: str) -> bytes:
    return orjson.dumps(text)[1:-1]
