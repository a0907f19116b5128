"""Extraction by a language model: pack passages into calls and ground the replies.

The facts stored for a passage depend on the reply and the passage alone, so a call that an earlier
run completed, even one that was killed, is grounded again without calling the model.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from math import log

from pydantic import BaseModel

from schemas.ontology import Ontology, OntologyRelation
from schemas.settings import EngineSettings
from tasks.extract.by_model import grounding
from tasks.extract.by_model.grounding import Grounded, ground
from tasks.extract.by_model.passages import (
    PassageRow,
    halves,
    into_calls,
    is_readable,
    render,
    show_facts,
    uncovered,
)
from tasks.extract.extracted import Extracted
from tasks.models.call import Outcome, Request
from tasks.models.client import ModelClient
from tasks.models.prompts import Prompt, load_prompt
from tasks.models.prompts.replies import merged
from tasks.models.stream import stream
from tasks.models.transports import endpoint_of, require_model
from tasks.ontology.read import ontology_sha
from tasks.text.stems import stems_of, words_of

MOST_IN_PROMPT = 40
"""Relations in one prompt: beyond, models overlook some, and each call costs more than its text."""
FORMS = {
    "together": ("extract",),
    "apart": ("extract_triples", "extract_descriptions", "extract_aspects"),
}
CUT = {Outcome.TOO_LONG, Outcome.TRUNCATED}  # outcomes that a shorter call may avoid
MOST_CUTS = 6  # halvings of one call
OF_TRIPLES = {"extract", "extract_triples"}  # prompts whose empty replies are doubtful
NO_FACTS = (
    "That reply lists no fact, but the text seems to name somebody or something, or a number. List "
    "all that it states; if it states nothing, give the same reply."
)


@dataclass(slots=True)
class _Part:
    """Some passages with the replies about them, or the reason why there are none."""

    passages: list[PassageRow]
    replies: list[BaseModel] = field(default_factory=list)
    failed: str | None = None


class ModelEngine:
    """Extracts with one model, for one run."""

    def __init__(self, settings: EngineSettings, client: ModelClient, width: int) -> None:
        self.settings, self.client, self.width = settings.model, client, width
        self.name = settings.engine
        self.prompt_sha = identity(settings)
        self._prompts = {language: _prompts(settings, language) for language in ("en", "zh")}
        self._ontology = settings.ontology

    def extract(self, passages: list[PassageRow]) -> Iterator[Grounded]:
        """Yield the results for the passages, call by call, in any order."""
        yield from self.unreadable(passages)
        # Loading the Chinese dictionary takes half a second, which calls in flight would wait for.
        if any(passage["language"] == "zh" for passage in passages):
            stems_of("词")
        yield from self.extract_units(self._units(passages))

    def unreadable(self, passages: list[PassageRow]) -> Iterator[Grounded]:
        """Yield the results for passages that no call is about."""
        empty = [passage["passage_id"] for passage in passages if not is_readable(passage)]
        if empty:
            yield Grounded([Extracted(passage, empty_because="no_prose") for passage in empty])

    def extract_units(self, units: Iterable[list[PassageRow]]) -> Iterator[Grounded]:
        """Yield the results for passages packed into calls, in any order."""
        work = stream(self._work, units, self.width, self.client.transport.close)
        # Grounding inside the coroutines would delay other calls.
        for call, parts in work:
            yield self._grounded(call, parts)

    def units(self, passages: list[PassageRow]) -> list[list[PassageRow]]:
        """Return the passages packed into calls: one list per call of each form."""
        return list(self._units(passages))

    def asked_anew(self, passages: list[PassageRow]) -> int:
        """Return how many passages have replies, but to other versions of the prompts alone."""
        ledger, model = self.client.ledger, self.settings.name
        earlier: set[str] = set()
        for prompt in self._prompts["en"]:
            replied, now = (ledger.answered(prompt.purpose, model, p) for p in (None, prompt.sha))
            earlier |= set(chain(*replied)).difference(*now)
        return len(earlier.intersection(passage["passage_id"] for passage in passages))

    def requests(self, passages: list[PassageRow], *, doubted: bool = True) -> list[Request]:
        """Return the requests about the passages of one call.

        A reply without any fact is questioned once if the passages show names or numbers.
        """
        language = "zh" if passages[0]["language"] == "zh" else "en"

        def doubt(reply: BaseModel) -> str | None:
            return NO_FACTS if not any(dict(reply).values()) and show_facts(passages) else None

        values = render(passages)
        relations = self._relevant_relations(values["text"])
        requests = [
            prompt.request(
                values,
                most_tokens=self.settings.reply_tokens,
                document_id=passages[0]["document_id"],
                passage_ids=tuple(dict.fromkeys(passage["passage_id"] for passage in passages)),
                sensitive=any(passage["sensitive"] for passage in passages),
                doubt=doubt if doubted and prompt.purpose in OF_TRIPLES else None,
            )
            for prompt in self._prompts[language]
        ]
        return [replace(request, system=request.system + relations) for request in requests]

    def _relevant_relations(self, text: str) -> str:
        """Return the relations of a large ontology that may be in a text, as a line."""
        ontology = self._ontology
        if ontology is None or len(ontology.relations) <= MOST_IN_PROMPT:
            return ""
        return relations_line(ontology, relevant_relations(ontology, text))

    def _units(self, passages: list[PassageRow]) -> Iterator[list[PassageRow]]:
        """Pack readable passages into calls; passages that shared a call before stay together."""
        remaining = {p["passage_id"]: p for p in passages if is_readable(p)}
        prompts = {prompt.purpose: prompt.sha for prompt in self._prompts["en"]}
        for purpose, sha in prompts.items():
            for together in self.client.ledger.answered(purpose, self.settings.name, sha):
                if all(passage in remaining for passage in together):
                    yield [remaining.pop(passage) for passage in together]
        for run in _runs(remaining.values()):
            yield from into_calls(run, self.settings.call_tokens)

    async def _work(self, passages: list[PassageRow]) -> tuple[list[PassageRow], list[_Part]]:
        parts = await self._ask(passages, MOST_CUTS)
        if self.settings.second_look:
            parts += await self._look_again(passages, parts)
        return passages, parts

    async def _look_again(self, passages: list[PassageRow], parts: list[_Part]) -> list[_Part]:
        """Ask about the sentences that the first reply left uncovered; return the new parts."""
        first = self._grounded(passages, parts).extracted
        failed = {extracted.passage_id for extracted in first if extracted.failed}
        whole = [passage for passage in passages if passage["passage_id"] not in failed]
        sentences = uncovered(whole, first)
        if not sentences:
            return []
        self.client.counts["second looks"] += 1
        # The sentences that the first reply skipped may well state nothing.
        parts = await self._ask(sentences, MOST_CUTS, doubted=False)
        return [part for part in parts if not part.failed]

    def _grounded(self, passages: list[PassageRow], parts: list[_Part]) -> Grounded:
        """Ground the replies about a call's passages; failed passages yield failed results."""
        failed = {
            p["passage_id"]: part.failed for part in parts if part.failed for p in part.passages
        }
        whole = [passage for passage in passages if passage["passage_id"] not in failed]
        results = [Extracted(passage, failed=reason) for passage, reason in failed.items()]
        if not whole:
            return Grounded(results)
        replies = [(merged(part.replies), part.passages) for part in parts if not part.failed]
        grounded = ground(replies, whole, self._ontology)
        if not any(fact for reply, _ in replies for fact in dict(reply).values()):
            for extracted in grounded.extracted:
                extracted.empty_because = "empty_reply"
        return Grounded(results + grounded.extracted, grounded.rejected)

    async def _ask(
        self, passages: list[PassageRow], cuts: int, *, doubted: bool = True
    ) -> list[_Part]:
        """Return the replies about the passages; a call that is too long is split in half."""
        requests = self.requests(passages, doubted=doubted)
        answers = await asyncio.gather(*(self.client.ask(request) for request in requests))
        failure = next((answer for answer in answers if answer.reply is None), None)
        if failure is None:
            return [_Part(passages, [a.reply for a in answers if a.reply is not None])]
        cut = halves(passages) if failure.outcome in CUT and cuts else None
        if cut is None:
            return [_Part(passages, failed=failure.reason)]
        self.client.counts["calls cut in half"] += 1
        first, second = await asyncio.gather(
            *(self._ask(half, cuts - 1, doubted=doubted) for half in cut)
        )
        return first + second


def identity(settings: EngineSettings) -> str:
    """Return the version of results: a hash of everything that decides which facts are stored."""
    model = settings.model
    require_model(settings)
    endpoint = endpoint_of(settings)
    parts = [model.name, str(model.second_look), str(grounding.GROUNDING_VERSION)]
    parts += [] if endpoint is None else [endpoint]
    parts += [prompt.sha for prompt in _prompts(settings, "en")]
    parts += [ontology_sha(settings.ontology)] if settings.ontology else []
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def _prompts(settings: EngineSettings, language: str) -> list[Prompt]:
    """Return the prompts of one language; a prompt's hash covers all of them."""
    ontology = settings.ontology
    few = ontology is not None and len(ontology.relations) <= MOST_IN_PROMPT
    words = relations_line(ontology, list(ontology.relations)) if ontology and few else ""
    forms = FORMS[settings.model.forms]
    return [load_prompt(purpose, language, vocabulary=words) for purpose in forms]


def _runs(passages: Iterable[PassageRow]) -> Iterator[list[PassageRow]]:
    """Yield runs of consecutive passages of one text, so that they pack the same way again."""

    def stretch(numbered: tuple[int, PassageRow]) -> tuple[str, int]:
        number, passage = numbered
        return passage["content_id"], passage["place"] - number

    for _, run in groupby(enumerate(passages), stretch):
        yield [passage for _, passage in run]


def relations_line(ontology: Ontology, names: list[str]) -> str:
    """Return the relations as a line of a prompt."""
    only = "Use only these p" if ontology.mode == "strict" else "Prefer these p where one fits"
    listed = "; ".join(_in_words(name, ontology.relations[name]) for name in names)
    return f"\n{only}: {listed}" if listed else ""


def relevant_relations(ontology: Ontology, text: str) -> list[str]:
    """Return the relations that share most words with a text, in file order; rare words weigh more.

    A small ontology's relations are all returned.
    """
    if len(ontology.relations) <= MOST_IN_PROMPT:
        return list(ontology.relations)
    stems = {name: _stems(name, relation) for name, relation in ontology.relations.items()}
    frequency = Counter(stem for words in stems.values() for stem in words)
    shown = {word for _, _, word in stems_of(text)}
    weight = {stem: log(1 + len(stems) / times) for stem, times in frequency.items()}
    ranked = sorted(stems, key=lambda name: -sum(weight[stem] for stem in stems[name] & shown))
    chosen = set(ranked[:MOST_IN_PROMPT])
    return [name for name in ontology.relations if name in chosen]


def _stems(name: str, relation: OntologyRelation) -> frozenset[str]:
    return words_of(
        " ".join((name, relation.description, relation.inverse or "", *relation.wordings))
    )


def _in_words(name: str, relation: OntologyRelation) -> str:
    ends = " → ".join("/".join(kinds) or "any" for kinds in (relation.domain, relation.range))
    notes = [ends] if relation.domain or relation.range else []
    notes += [relation.description] if relation.description else []
    return f"{name} ({'; '.join(notes)})" if notes else name
