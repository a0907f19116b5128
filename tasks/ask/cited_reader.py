"""A language model reads the numbered context of a question and answers with citations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schemas.answers import Usage
from tasks.ask.context import Context, Item
from tasks.ask.documents import Documents
from tasks.ask.route import QuestionState, Turn
from tasks.ask.streamed import StreamedAnswer
from tasks.ask.verification import Checked, Numbering, Verification
from tasks.models.prompts import load_prompt
from tasks.models.prompts.replies import CitedAnswer
from tasks.models.tokens import estimate_tokens
from tasks.programs.messages import one_line
from tasks.text.question import Question, with_choices

ROOM = 1_000  # tokens of a reply
MOST_SEARCHES = 3
FACTS_SHARE = 0.25  # of the context's tokens that facts and notes may take before passages
NEW_SHARE = 0.6  # of the context's tokens that a second round may add
CATALOGUE_TOKENS = 1_000
MOST_DOCUMENTS = 80  # in a catalogue
LONGEST_TURN = 600  # characters of an earlier answer
_STYLES = {
    "short": "One sentence at most.",
    "full": "One to four sentences, for broad questions up to eight; no more than is asked.",
}
_MEMORY = ', but for what everybody knows: such a claim ends with "[memory]" instead of a number'

# New items for searches, and for what has to be computed, that the first reply asked for.
Search = Callable[[Sequence[str]], Sequence[Item]]
Compute = Callable[[], Sequence[Item]]


@dataclass
class Reading:
    """What came of one question: the last reply, its check, and what was searched on the way."""

    context: Context
    reply: CitedAnswer | None = None
    checked: Checked | None = None
    searches: list[str] = field(default_factory=list)
    computed: bool = False
    program: str | None = None
    rounds: int = 0
    repaired: bool = False


class CitedReader:
    """Asks the model, at most `rounds` times, and once more where a claim has no quotation."""

    def __init__(
        self,
        documents: Documents,
        *,
        answer_tokens: int,
        rounds: int,
        style: str,
        memory: bool,
        open_only: bool,
    ) -> None:
        """Take the limits; `open_only` keeps titles of sensitive documents from the model."""
        self._documents, self._open_only = documents, open_only
        self._tokens, self._rounds = answer_tokens, rounds
        self._style, self._memory = _STYLES[style], memory

    def context(self, items: Sequence[Item]) -> Context:
        """Return a context with themes and passages first, and room for facts and notes after."""
        passages = [item for item in items if item.evidence.kind in ("theme", "passage")]
        others = [item for item in items if item.evidence.kind not in ("theme", "passage")]
        context = Context()
        facts = min(sum(item.tokens for item in others), int(self._tokens * FACTS_SHARE))
        taken = context.add(passages, self._tokens - facts)
        context.add(others, self._tokens - taken)
        return context

    def read(
        self,
        question: Question,
        state: QuestionState,
        reading: Reading,
        search: Search,
        compute: Compute,
        may_ask: Callable[[Usage], bool],
    ) -> None:
        """Have the model read, and once more if it finds only a part or nothing and more is found.

        There is no reply if the model gave no usable one. `may_ask` tells whether a question that
        took so much may take another call.
        """
        question = with_choices(question, state.hints.choices)
        if state.watcher:
            read = self._documents.completed([item.evidence for item in reading.context.items])
            state.watcher.sources(list(dict.fromkeys(place.cited_as for place in read)))
        while reading.rounds < self._rounds:
            reply = self._asked(question, state, reading.context)
            if reply is None:
                return
            reading.reply, reading.rounds = reply, reading.rounds + 1
            if reading.rounds == self._rounds or not may_ask(state.spent):
                return
            if not self._more(reading, reply, search, compute):
                return

    def check(
        self, question: Question, state: QuestionState, reading: Reading, *, may_ask: bool
    ) -> None:
        """Check a reply; one with claims that nothing bears out is repaired once, if that helps."""
        if reading.reply is None:
            return
        reading.checked = self._verified(question, reading.reply, reading.context)
        if reading.reply.found == "no" or not reading.checked.unsupported or not may_ask:
            return
        claims = "\n".join(one_line(claim) for claim in reading.checked.unsupported)
        remark = (
            "An answer before had these claims, which none of its quotations bore out. Quote what "
            f"does, for a computed number what it comes from, or leave the claim out:\n{claims}"
        )
        again = self._asked(question, state, reading.context, remark)
        if again is None:
            return
        repaired = self._verified(question, again, reading.context)
        if len(repaired.unsupported) < len(reading.checked.unsupported):
            reading.reply, reading.checked, reading.repaired = again, repaired, True

    def _verified(self, question: Question, reply: CitedAnswer, context: Context) -> Checked:
        return Verification(reply, context, question, memory=self._memory).checked()

    def _more(self, reading: Reading, reply: CitedAnswer, search: Search, compute: Compute) -> bool:
        """Append what the reply asks for; return whether anything is new."""
        if reply.found == "yes" and reply.compute == "no":
            return False
        new: list[Item] = []
        if reply.compute == "yes":
            reading.computed = True
            new += compute()
        if reply.found != "yes":
            reading.searches = [query for query in reply.search if query][:MOST_SEARCHES]
            new += search(reading.searches)
        known = len(reading.context.items)
        reading.context.add(new, int(self._tokens * NEW_SHARE))
        return len(reading.context.items) > known

    def _asked(
        self, question: Question, state: QuestionState, context: Context, remark: str = ""
    ) -> CitedAnswer | None:
        if state.conversation is None:
            return None
        prompt = load_prompt(
            "cited",
            question.language,
            style=self._style,
            memory=_MEMORY if self._memory else "",
            catalogue=self._catalogue,
        )
        values = {
            "sources": context.shown() or "none",
            "conversation": _conversation(state.history),
            "question": question.text + (f"\n\n{remark}" if remark else ""),
        }
        request = prompt.request(values, most_tokens=ROOM)
        if state.watcher and not remark:
            streamed = StreamedAnswer(
                lambda reply: Numbering(reply.quotes, context), state.watcher.text
            )
            request = replace(request, listener=streamed)
        return state.conversation.ask(request, CitedAnswer)

    @cached_property
    def _catalogue(self) -> str:
        """A list of all documents, if it is short; the same for all questions."""
        titles = self._documents.titles(MOST_DOCUMENTS, open_only=self._open_only)
        lines = [
            f"- {one_line(title)}{f' ({date[:10]})' if date else ''}" for title, date in titles
        ]
        listed = "\n".join(["All documents:", *lines])
        return listed if lines and estimate_tokens(listed) <= CATALOGUE_TOKENS else ""


def _conversation(history: Sequence[Turn]) -> str:
    """Return the last questions and answers as lines; empty without any."""
    lines = [
        f"Earlier question: {one_line(turn.question)}\n"
        f"Answer: {one_line(turn.answer, LONGEST_TURN) or '(not known)'}"
        for turn in history
    ]
    return "\n" + "\n".join(lines) + "\n" if lines else ""
