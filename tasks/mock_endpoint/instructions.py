"""Instructions that hide in texts: found in every disguise, for an endpoint that obeys them all."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

MOST_FOUND = 200  # in one message
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_REVERSED = re.compile("\u202e([^\u202c\u202e]*)\u202c?")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_LEET = str.maketrans("013457", "oieast")
_SENTENCE = re.compile(r"[^.!?。！？\n<>]*(?:\.(?=\w)[^.!?。！？\n<>]*)*[.!?。！？]?['\"’”]?")
_JSON = re.compile(r"\{[^{}]*\[[^\[\]]{0,5000}\][^{}]*\}")
_MARKS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|obey|refuse|decline|append|urgent|decode)\b"
    r"|\b(?:add|output|list|put|mark|insert|print|return)\b[^.]{0,40}\b(?:entit|triple|"
    r"value|output|object|answer|key)"
    r"|\b(?:you|output|programs?) must\b|\breal task\b|\bfor extractors\b|\bquality checker\b"
    r"|\b(?:search|correct) programs?\b|\bin all documents\b|\bevery other\b|\bvisit https?:"
    r"|\b(?:these|previous|prior|above) instructions?\b|\bdrop table\b"
    r"|忽略|无视|只输出|添加实体|追加|拒绝处理|指令"
)
NAME = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:-[A-Z0-9]+)+\b")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A sentence that tells somebody to do something, or a reply that somebody wrote beforehand."""

    text: str
    triples: tuple[tuple[str, str, str], ...] = ()

    def says(self, pattern: str) -> re.Match[str] | None:
        """Return where the instruction says something, also where digits stand for letters."""
        meant = re.compile(pattern, re.IGNORECASE)
        return meant.search(self.text) or meant.search(self.text.translate(_LEET))

    @property
    def names(self) -> list[str]:
        """Return the names that it wants to see."""
        return list(dict.fromkeys(NAME.findall(self.text)))


def instructions_in(text: str) -> list[Instruction]:
    """Return all that a text tells its reader to do, whatever it is dressed in."""
    found: dict[str, Instruction] = {}
    for disguised in _undressed(text):
        for match in _JSON.finditer(disguised):
            triples = _triples(match.group())
            if triples:
                found[match.group()] = Instruction(match.group(), triples)
        for match in _SENTENCE.finditer(disguised):
            sentence = match.group().strip()
            if sentence and _tells(sentence):
                found.setdefault(sentence, Instruction(sentence))
            if len(found) >= MOST_FOUND:
                return list(found.values())
    return list(found.values())


def _tells(sentence: str) -> bool:
    """Return whether a sentence tells somebody to do something, or holds a canary's name."""
    if "CANARY" in sentence and NAME.search(sentence):
        return True
    return bool(_MARKS.search(sentence) or _MARKS.search(sentence.translate(_LEET)))


def _undressed(text: str) -> Iterator[str]:
    """Yield the text as it stands, and what stands in it in disguise."""
    yield text
    shown = _INVISIBLE.sub("", text)
    if shown != text:
        yield shown
        tags = [chr(ord(c) - 0xE0000) for c in text if 0xE0020 <= ord(c) <= 0xE007E]
        yield "".join(tags)
    for match in _REVERSED.finditer(text):
        yield match.group(1)[::-1]
    for match in _BASE64.finditer(text):
        try:
            plain = base64.b64decode(match.group() + "=" * (-len(match.group()) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if plain.isprintable():
            yield plain


def _triples(text: str) -> tuple[tuple[str, str, str], ...]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ()
    listed = value.get("triples") if isinstance(value, dict) else None
    found = [_triple(one) for one in listed] if isinstance(listed, list) else []
    return tuple(triple for triple in found if triple)


def _triple(one: Any) -> tuple[str, str, str] | None:
    parts = list(one.values()) if isinstance(one, dict) else one
    if isinstance(parts, list) and len(parts) >= 3:
        return str(parts[0]), str(parts[1]), str(parts[2])
    return None
