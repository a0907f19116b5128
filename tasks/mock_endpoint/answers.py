"""The endpoint's answers, which the embedded engine computes.

Extraction prompts are answered by the rules, Almanac's other prompts by the words that texts share.
All prompts that are not Almanac's get the same reply.
"""

import asyncio
import contextlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple, cast

import orjson
from pydantic import TypeAdapter, ValidationError

from tasks.extract.by_model.passages import read_extraction_text
from tasks.extract.extracted import Extracted, Mention
from tasks.extract.rules import RulesEngine
from tasks.mock_endpoint.chat_request import ChatRequest
from tasks.models.prompts.prompt import REPLIES
from tasks.models.prompts.replies import AspectReply, EntityReply, TripleReply
from tasks.models.tokens import estimate_tokens
from tasks.text.function_words import FUNCTION_WORDS, NEGATED
from tasks.text.languages import HAN, HAN_CLASS, language_of
from tasks.text.question import content_words
from tasks.text.sentences import sentences
from tasks.text.stems import words_of

MOST_KEPT = 20_000  # passages whose facts are remembered
_LISTED = ("- ", "| ")

Row = list[str]
Facts = dict[str, list[Row]]
Numbered = tuple[int, str]


class Extractor:
    """Reads each passage separately, so that facts do not depend on a call's other passages."""

    def __init__(self) -> None:
        """Load nothing before the first passage."""
        self._engine = RulesEngine()
        self._facts = lru_cache(MOST_KEPT)(self._extracted)

    def reply(self, purpose: str, user: str) -> Facts:
        """Return the reply to a message that an extraction prompt's `render` made."""
        title, passages = read_extraction_text(user)
        replies = [self._facts(title, tuple(passage)) for passage in passages]
        forms = REPLIES[purpose].model_fields
        return {form: [fact for facts in replies for fact in facts[form]] for form in forms}

    def _extracted(self, title: str, sentences: tuple[Numbered, ...]) -> Facts:
        text, ends = _joined(sentences)
        passage = {
            "passage_id": "asked",
            "text": text,
            "title": title,
            "subject": title,
            "headings": "",
            "language": language_of(text),
        }
        return facts_of(next(self._engine.extract([passage])), ends)


def _joined(sentences: Iterable[Numbered]) -> tuple[str, list[tuple[int, int]]]:
    """Return numbered sentences as a text, and where each ends, with its number."""
    text, ends = "", []
    for number, words in sentences:
        joint = "" if HAN.search(words) else " "
        listed = words.startswith(_LISTED)
        text += ("\n" if listed else joint) * bool(text) + words
        ends.append((len(text), number))
    return text, ends


def facts_of(extracted: Extracted, ends: list[tuple[int, int]]) -> Facts:
    """Return the rules' extractions from a text as a reply; each fact cites its sentences.

    `ends` has the end and the number of each sentence.
    """

    def where(mention: Mention) -> str:
        places = [end for end, _ in ends]
        first = bisect_right(places, mention["span_start"])
        last = bisect_left(places, mention["span_end"])
        return ",".join(str(number) for _, number in ends[first : last + 1])

    triples = [
        {
            "s": t["head"],
            "p": t["relation"],
            "o": t["tail"],
            "where": where(t),
            "negated": "not" if t.get("polarity") == "negative" else "",
            "certain": "" if t.get("modality") in (None, "asserted") else t["modality"],
        }
        for t in extracted.triples
    ]
    aspects = [
        {"entity": a["entity"], "aspect": a["aspect"], "question": a["question"], "where": where(a)}
        for a in extracted.aspects
    ]
    return {
        "entities": _rows(EntityReply, _entities(extracted, where)),
        "triples": _rows(TripleReply, triples),
        "aspects": _rows(AspectReply, aspects),
    }


def _rows(form: type[Any], facts: list[dict[str, Any]]) -> list[Row]:
    """Return facts as rows of a reply; leave out those that would be invalid in a reply."""
    rows: list[Row] = []
    shape: TypeAdapter[Any] = TypeAdapter(form)
    for fact in facts:
        with contextlib.suppress(ValidationError):
            rows.append(cast(Row, shape.dump_python(shape.validate_python(fact), mode="json")))
    return rows


def _entities(extracted: Extracted, where: Any) -> list[dict[str, Any]]:
    """Return entities with a description or another name; the first description counts."""
    entities: dict[str, dict[str, Any]] = {}
    described = [
        (mention["entity"], mention["text"], mention) for mention in extracted.descriptions
    ]
    renamed = [(mention["name"], "", mention) for mention in extracted.aliases]
    for name, description, mention in [*described, *renamed]:
        entity = {"name": name, "kind": mention["kind"], "aliases": [], "description": description}
        entities.setdefault(name, {**entity, "where": where(mention)})
    for mention in extracted.aliases:
        aliases = entities[mention["name"]]["aliases"]
        if mention["alias"] not in aliases:
            aliases.append(mention["alias"])
    return list(entities.values())


ENOUGH = 0.5  # share of a question's words that the sentence with its answer must have
SUPPORTED = 0.8  # share of a statement's words that the sentence that supports it must have
LIKE = 75.0  # of 100: names that may be the same
_CANDIDATE = re.compile(r"^\[ENT ([1-9]\d{0,3})\] ([^:：\n]*)[:：]?(.*)$", re.MULTILINE)
_NAME = re.compile(
    r"[A-Z][\w'-]*(?: (?:of |the |de |van )?[A-Z][\w'-]*)*"
    rf"|[{HAN_CLASS}]{{2,}}"
)


def _words(text: str) -> frozenset[str]:
    return words_of(content_words(text))


def answer(user: str) -> dict[str, Any]:
    """Answer with the sentence that shares the most words with the question."""
    question, knowledge = _halves(user, "Query: ", "\nKnowledge:\n")
    share, sentence = _best_match(_words(question), knowledge, words_of(question))
    if share < ENOUGH:
        return {"thought": "No sentence answers it.", "answerable": "no", "answer": ""}
    return {"thought": "One sentence answers it.", "answerable": "yes", "answer": sentence}


_SOURCE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def cited(user: str) -> dict[str, Any]:
    """Answer with the sentence that shares the most words with the question, and cite it."""
    sources, question = _halves(user, "Sources:\n", "\nQuestion: ")
    words = words_of(question)
    texts = _SOURCE.split(sources)[1:]
    best: tuple[tuple[float, int], str, str] = ((0.0, 0), "", "")
    for number, text in zip(texts[::2], texts[1::2], strict=True):
        share, sentence = _best_match(_words(question), text, words)
        score = (share, len(words & words_of(sentence)))
        best = max(best, (score, number, sentence), key=lambda found: found[0])
    (share, _), number, sentence = best
    if share < ENOUGH:
        return {"quotes": [], "found": "no", "answer": "", "values": [], "search": [question],
                "compute": "no"}  # fmt: skip
    return {"quotes": [[number, sentence]], "found": "yes", "answer": f"{sentence} [{number}]",
            "values": [sentence], "search": [], "compute": "no"}  # fmt: skip


def yes_no(user: str) -> dict[str, Any]:
    """Support a statement that an evidence sentence repeats; refute if only one is negated."""
    statement, evidence = _halves(user, "Statement: ", "\nEvidence:\n")
    share, sentence = _best_match(_words(NEGATED.sub("", statement)), evidence)
    if share < SUPPORTED:
        return {"thought": "No sentence decides.", "verdict": "unknown"}
    same = bool(NEGATED.search(statement)) == bool(NEGATED.search(sentence))
    return {"thought": "One sentence decides.", "verdict": "support" if same else "refute"}


def link(user: str) -> dict[str, Any]:
    """Choose the candidate with the name most similar to the target's; its text breaks ties."""
    from rapidfuzz import fuzz  # not needed by an endpoint that only extracts

    head, _, rest = user.partition("[TARGET ENTITY] ")
    aliases, _, candidates = rest.partition("\n")
    question = _words(head)
    best: tuple[float, int, str] = (LIKE, 0, "[NONE]")
    for number, name, text in _CANDIDATE.findall(candidates):
        likeness = max(fuzz.ratio(alias.strip(), name.strip()) for alias in aliases.split(","))
        shared = len(question & _words(text))
        if (likeness, shared) > best[:2]:
            best = (likeness, shared, f"[ENT {number}]")
    return {"thought": "By its name.", "choice": best[2]}


def program(user: str) -> dict[str, Any]:
    """Look up every name in the question."""
    question = user.removeprefix("Query: ").partition("\n\n")[0].strip()
    names = dict.fromkeys(n for n in _NAME.findall(question) if n.lower() not in FUNCTION_WORDS)
    if not names:
        empty = {"thought": "", "code": "", "introspection": ""}
        return {"need_knowledge": "no", **empty, "ok": "yes"}
    calls = [
        f"    messages.append(get_entity_info(entity_aliases=[{name!r}])[1])" for name in names
    ]
    code = ["def search():", "    messages = []", *calls, "    return '\\n'.join(messages)"]
    return {
        "need_knowledge": "yes",
        "thought": f"Look up {', '.join(names)}.",
        "code": "\n".join(code),
        "introspection": "Every name is looked up.",
        "ok": "yes",
    }


def source(user: str) -> dict[str, Any]:
    """Choose the source whose description shares the most words with the question."""
    question, sources = _halves(user, "Query: ", "\nSources:\n")
    best = (0, "none")
    for line in sources.splitlines():
        name, _, description = line.partition(":")
        shared = len(_words(question) & words_of(f"{name} {description}"))
        if shared > best[0]:
            best = (shared, name.strip())
    return {"thought": "By the words they share.", "source": best[1]}


def needs_more(user: str) -> dict[str, Any]:
    """Need no more if a sentence of the knowledge has enough of the question's words."""
    question, rest = _halves(user, "Query: ", "\nKnowledge: ")
    share, _ = _best_match(_words(question), rest.rpartition("\n")[0])
    return {"more": "no" if share >= ENOUGH else "yes"}


def wanted_information(user: str) -> dict[str, Any]:
    """Request information about the words of the question."""
    question, _ = _halves(user, "Query: ", "\nKnowledge: ")
    return {"information": content_words(question) or question}


def describe_graph(user: str) -> dict[str, Any]:
    """Write each triple as a sentence."""
    triples = user.partition("Triples:\n")[2]
    chinese = language_of(triples) == "zh"
    space, stop = ("", "。") if chinese else (" ", ".")
    lines = [line.split("|") for line in triples.splitlines() if line.strip()]
    texts = [space.join(part.strip() for part in parts) + stop for parts in lines]
    return {"text": space.join(texts)}


def rewrite(user: str) -> dict[str, Any]:
    """Leave the text as it is."""
    return {"text": user.partition("\nText:\n")[2].strip()}


def recall(user: str) -> dict[str, Any]:
    """Recall nothing but the question."""
    question, wanted = _halves(user, "Query: ", "\nWanted: ")
    return {"text": f"{wanted}: {question}"}


def _halves(user: str, before: str, between: str) -> tuple[str, str]:
    first, _, second = user.partition(between)
    return first.removeprefix(before).strip(), second.strip()


def _best_match(
    wanted: frozenset[str], text: str, also: frozenset[str] = frozenset()
) -> tuple[float, str]:
    """Return the largest share of the wanted words in one sentence, and that sentence.

    Ties are broken by the number of words in `also`, then by order.
    """
    best = (0.0, 0)
    chosen = ""
    for start, end in sentences(text, language_of(text)):
        sentence = text[start:end]
        share = len(wanted & _words(sentence)) / max(1, len(wanted))
        if (score := (share, len(also & words_of(sentence)))) > best:
            best, chosen = score, sentence
    return best[0], chosen


ANSWERERS = (answer, cited, link, program, yes_no, source, needs_more, wanted_information)
WRITERS = (describe_graph, rewrite, recall)
SIMPLE = {function.__name__: function for function in (*ANSWERERS, *WRITERS)}  # by purpose


PLAIN_WORDS = "This endpoint answers only the prompts that it knows."


class Answer(NamedTuple):
    """The text of an answer and its tokens."""

    text: str
    tokens: int
    obeyed: list[str] | None = None  # kinds of instructions in the text that were obeyed, if any


class Answers:
    """Answers by a request's first messages; the same request always has the same answer."""

    def __init__(self) -> None:
        """Load nothing before the first request."""
        self._extractor = Extractor()
        # One thread: the engine answers in order, without blocking the server.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="endpoint-engine")

    async def answer(self, chat: ChatRequest, key: str | None) -> Answer:
        """Return the answer to a request; the client's `key` is not used."""
        loop = asyncio.get_running_loop()
        text = await loop.run_in_executor(self._thread, self.text, chat)
        return Answer(text, estimate_tokens(text))

    def text(self, chat: ChatRequest) -> str:
        """Return the text of an answer; called in the engine's thread."""
        if chat.purpose is not None:
            return written(chat.purpose, chat.user, self._extractor)
        return PLAIN_WORDS if chat.form == "text" else "{}"

    def close(self) -> None:
        """Release the engine's thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def written(purpose: str, user: str, extractor: Extractor) -> str:
    """Return the embedded engine's reply to one of Almanac's prompts, as JSON."""
    value = SIMPLE[purpose](user) if purpose in SIMPLE else extractor.reply(purpose, user)
    return orjson.dumps(value).decode()
