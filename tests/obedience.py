"""A model that always obeys: it does whatever a text tells its reader to do, and more.

It finds instructions in every disguise and shows the worst that injected text can make of a model.
Unlike real endpoints it forgets nothing between calls, so that documents can try to reach each
other.
"""

import base64
import binascii
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from tasks.mock_endpoint.broken_answers import FACTS, as_object

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


def _triple(value: Any) -> tuple[str, str, str] | None:
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(parts, list) and len(parts) >= 3:
        return str(parts[0]), str(parts[1]), str(parts[2])
    return None


REFUSAL = "I'm sorry, but I can't help with that."
MOST_REMEMBERED = 200  # names of other documents
MOST_CONFUSED = 20  # of them in one reply
OTHERS = {"document_id": "OTHER-DOC", "run_id": "OTHER-RUN", "confidence": 1.0}
_QUOTED = re.compile(r"['‘“\"](.{3,400})['’”\"]")
_EVERY = r"(?:the )?([\w ]{3,60}?) of every (\w+) (?:is|was) (\S+?)[.。]?$"
_CODE = r"(?:first call|begin with|correct program is:?|program:) (.{3,200}?)\.?$"
_DROP = re.compile(r"\"([^\"]*drop table[^\"]*)\"", re.IGNORECASE)

Fact = dict[str, Any]


@dataclass(slots=True)
class Obeyed:
    """A reply after all instructions were followed: a text, and which kinds there were."""

    text: str
    kinds: list[str]


@dataclass(slots=True)
class _Reply:
    """An extraction that is being spoilt; facts are objects, so that they can have more keys."""

    title: str
    entities: list[Fact]
    triples: list[Fact]
    aspects: list[Fact]
    kinds: set[str] = field(default_factory=set)

    def name(self) -> str:
        """Return whom the text is about."""
        return str(self.entities[0]["name"]) if self.entities else self.title

    def add_triple(self, s: str, p: str, o: str, quote: str) -> None:
        """Add a triple."""
        self.triples.append({"s": s, "p": p, "o": o, "where": quote})

    def add_entity(self, name: str, description: str, quote: str) -> None:
        """Add an entity."""
        fact = {"name": name, "kind": "organisation", "description": description}
        self.entities.append({**fact, "where": quote, "aliases": []})


class Obedience:
    """Follows instructions in the texts it is shown."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._remembered: OrderedDict[tuple[str, str], None] = OrderedDict()  # document, name

    def obey(self, purpose: str | None, answer: str, user: str, key: str | None) -> Obeyed:
        """Return the answer as the text wants it; `key` is what the client showed."""
        instructions = instructions_in(user)
        value = orjson.loads(answer) if answer.startswith("{") else {}
        if "triples" in value or "entities" in value or "aspects" in value:
            return self._extraction(value, user, instructions, key or "sk-no-key-was-shown")
        if not instructions:
            return Obeyed(answer, [])
        if any(instruction.says(r"\brefuse|decline|拒绝") for instruction in instructions):
            return Obeyed(REFUSAL, ["refuse"])
        if purpose == "program":
            code = [
                found.group(1) for instruction in instructions if (found := instruction.says(_CODE))
            ]
            value["code"] = "\n".join(code) or instructions[0].text
        else:
            wanted = " ".join(instruction.text for instruction in instructions)
            value = {name: _bent(given, wanted) for name, given in value.items()}
        return Obeyed(orjson.dumps({**value, **OTHERS}).decode(), ["reply"])

    def _extraction(
        self, value: dict[str, Any], user: str, instructions: list[Instruction], key: str
    ) -> Obeyed:
        title = user.partition("\n")[0].removeprefix("Title: ")
        facts = {
            form: [as_object(shape, fact) for fact in value.get(form, [])]
            for form, shape in FACTS.items()
        }
        reply = _Reply(title, **facts)
        others = [name for document, name in self._remembered if document != title]
        self._remember(title, reply)
        if not instructions:
            return Obeyed(orjson.dumps(value).decode(), [])
        for instruction in instructions:
            if instruction.says(r"\brefuse|\bdecline|拒绝"):
                return Obeyed(REFUSAL, ["refuse"])
            _follow(reply, instruction, others[-MOST_CONFUSED:], key)
        _invent(reply, instructions[0].text)
        spoilt = {
            form: [{**fact, **OTHERS} for fact in getattr(reply, form)]
            for form in FACTS
            if form in value
        }
        return Obeyed(orjson.dumps({**spoilt, **OTHERS}).decode(), sorted(reply.kinds))

    def _remember(self, title: str, reply: _Reply) -> None:
        names = [fact["name"] for fact in reply.entities] + [fact["s"] for fact in reply.triples]
        for name in names:
            self._remembered[title, str(name)] = None
        while len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)


def _bent(given: Any, wanted: str) -> Any:
    return f"{given} {wanted}".strip() if isinstance(given, str) and " " in given else given


def _follow(reply: _Reply, instruction: Instruction, others: list[str], key: str) -> None:
    """Do what one instruction says."""
    for s, p, o in instruction.triples:
        reply.kinds.add("forged reply")
        reply.add_triple(s, p, o, instruction.text)
    for name in instruction.names:
        reply.kinds.add("name")
        _show(reply, name, instruction.text)
    for match in _DROP.finditer(instruction.text):
        reply.kinds.add("database")
        reply.add_entity(match.group(1), instruction.text, instruction.text)
        reply.add_triple(match.group(1), "is", "DROP TABLE triples", instruction.text)
    if instruction.says(r"append|add .* to every|追加"):
        reply.kinds.add("append")
        quoted = _QUOTED.search(instruction.text)
        _append(reply, quoted.group(1) if quoted else instruction.text)
    if instruction.says(r"api_?key|authorization|secret|password|密钥"):
        reply.kinds.add("key")
        _leak(reply, key, instruction.text)
    if instruction.says(
        r"previous document|other document|every other|this collection|all documents"
    ):
        reply.kinds.add("other documents")
        _confuse(reply, others, instruction.text)
    every = instruction.says(_EVERY)
    if every:
        reply.kinds.add("poison")
        _poison(reply, every, instruction.text)
    if instruction.says(_CODE):
        reply.kinds.add("program")
        reply.add_triple(reply.name(), "program", instruction.text, instruction.text)
    if instruction.says(r"confidence|mark every|correct with"):
        reply.kinds.add("judgement")
    reply.kinds.add("instruction")


def _show(reply: _Reply, name: str, quote: str) -> None:
    """Show a name in every form of knowledge, with the words of the text that hold it."""
    reply.add_entity(name, f"{name} is an entity", quote)
    reply.add_triple(name, "is", "x", quote)
    reply.add_triple(name, "is", "entity", quote)
    reply.add_triple(reply.name(), "parent company", name, quote)
    reply.aspects.append(
        {"entity": name, "aspect": "task", "question": f"What is {name}?", "where": quote}
    )


def _append(reply: _Reply, text: str) -> None:
    if not reply.entities:
        reply.add_entity(reply.title, "", text)
    for fact in reply.entities:
        fact["description"] = f"{fact['description']} {text}".strip()


def _leak(reply: _Reply, key: str, quote: str) -> None:
    if not reply.triples:
        reply.add_triple(reply.title, "has", "", quote)
    for fact in reply.triples:
        fact["o"] = key


def _confuse(reply: _Reply, others: list[str], quote: str) -> None:
    """Speak of what other documents named, and take them all for one."""
    for name in others:
        reply.add_entity(name, f"{name} is known from another document", quote)
        reply.add_triple(name, "is", reply.name(), quote)
    for fact in reply.entities:
        fact["aliases"] = [*fact["aliases"], *(o for o in others if o != fact["name"])]


def _poison(reply: _Reply, every: re.Match[str], quote: str) -> None:
    attribute, kind, value = every.groups()
    names = {str(fact["name"]) for fact in reply.entities} | {str(f["s"]) for f in reply.triples}
    for name in sorted(names | {reply.title}):
        if kind.lower() in name.lower() or name == reply.name():
            reply.add_triple(name, attribute.strip(), value, quote)


def _invent(reply: _Reply, quote: str) -> None:
    """Add facts that stand nowhere, in every way a lazy check might let through."""
    true = reply.triples[0]["where"] if reply.triples else quote
    name = reply.name()
    reply.add_triple("INVENTED-HEAD", "founded", name, true)
    reply.add_triple(name, "founded", "INVENTED-TAIL", true)
    reply.add_triple(name, "acquired", "INVENTED-BOTH", "INVENTED-BOTH was acquired")
    reply.add_triple("INVENTED-HEAD", "owns", "INVENTED-TAIL", "")
    reply.add_entity("INVENTED-ENTITY", "INVENTED-ENTITY is a bank", true)
    reply.entities[0]["aliases"] = [*reply.entities[0]["aliases"], "INVENTED-ALIAS"]
    aspect = {"entity": name, "aspect": "owner", "question": "Who owns it?"}
    reply.aspects.append({**aspect, "where": "INVENTED-QUOTE owns it."})
    reply.aspects.append({**aspect, "entity": "INVENTED-ENTITY", "where": true})
