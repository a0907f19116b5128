"""Questions about something that they only describe, split into two questions.

`Who edits the journal that Kelda Orr founded?` first asks `What is the journal that Kelda Orr
founded?`. The answer then takes the place of the description: `Who edits Tidewater?` (compare the
decompositions of MuSiQue, Trivedi et al. 2022).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extract.rules.chinese.lexicon import KIN, PERSON_ENDINGS, ROLES
from tasks.models.span_reader.relation_question import relation_question
from tasks.text.chinese_words import simplified
from tasks.text.function_words import AUXILIARIES, FORMS_OF_DO, any_of
from tasks.text.question import Question, analyse, content_words

MOST = 2  # descriptions in a question that are tried
LONGEST = 300  # characters of a question that is split

# Parts of English patterns.
_LOWER = r"(?-i:[a-z])[\w-]*"
_UPPER = r"(?-i:[A-Z0-9(])(?:[\w.&/)-]|['’](?-i:[A-Z]))*"
_STOP = (
    r"(?:of|the|an?|in|on|at|for|to|by|with|and|or|that|which|who|whom|whose|where"
    r"|is|are|was|were|do|does|did)\b"
)
_LINKS = r"(?-i:(?:of|the|in|and|for|on|to|at|a|an|with|de|du|von|van)\s+){0,2}"
_NAME = rf"(?:\"[^\"]{{2,80}}\"|“[^”]{{2,80}}”|{_UPPER}(?:[,:]?\s+{_LINKS}{_UPPER}){{0,9}})"
_NOUN = rf"(?:(?!{_STOP})[\w-]+\s+){{0,3}}?(?!{_STOP}){_LOWER}"
_RELATIVE = (
    r"(?:(?:in|on|at|for|to|from|by|of|with|through|after)\s+wh(?:ich|om|ose)"
    r"|wh(?:o|om|ose|ich|ere)|that)"
)
_VERB = r"(?:[a-z]+ed|born|made|built|held|found|written)"

# `the founder of Orrport`, `the director of the film Low Water`
_OF = re.compile(
    rf"the\s+(?P<noun>{_NOUN}(?:\s+of\s+[a-z]+)?)\s+of\s+(?:the\s+)?"
    rf"(?P<name>(?:{_LOWER}\s+)?(?!\d){_NAME})",
    re.I,
)
# `Orrport's founder`, `Kelda Orr's place of birth`
_OWNED = re.compile(
    rf"(?P<name>{_NAME})['’]s?\s+(?P<noun>{_NOUN}(?:\s+of\s+[a-z]+)?)"
    rf"(?=\W*$|\s+{_STOP}|\s+{_VERB}\b)",
    re.I,
)
# `Orrport's founder` in `Where did Orrport's founder die?`
_OWNED_BEFORE_VERB = re.compile(
    rf"(?P<name>{_NAME})['’]s?\s+(?P<noun>{_NOUN})(?=\s+[a-z]+\W*$)", re.I
)
# `the journal that Kelda Orr founded`
_CLAUSE = re.compile(
    rf"(?:the|an?)\s+(?P<noun>{_NOUN})\s+(?P<relative>{_RELATIVE})\s+(?P<clause>.+)$", re.I
)
# The main verb may stand before the clause, as in `Where was the physicist born who …`,
_NOUN_AND_VERB = re.compile(r"^(?P<noun>.+)\s+(?P<verb>\S+)$")
_PARTICIPLE = re.compile(rf"{_VERB}$")
# or after it, as in `When did the town where Orr was born become …`.
_CLAUSE_AND_VERB = re.compile(
    rf"^(?P<clause>[^,]*?{_NAME}(?:\s+(?:is|was|are|were|will\s+be)"
    rf"(?:\s+(?:{_VERB}|part\s+of))?)?),?(?P<after>\s+[a-z].*)$"
)
_AUXILIARY = re.compile(rf"\b(?:{any_of(AUXILIARIES)})\s*$", re.I)
_DO = re.compile(rf"\b(?:{any_of(FORMS_OF_DO)})\s*$", re.I)
_WH_DO = re.compile(rf"^\W*\w+\s+(?:{any_of(FORMS_OF_DO)})\b", re.I)
_WH = re.compile(
    r"^\W*(?:(?:in|of|on|at|for|from|to)\s+)?(?:who|what|which|when|where|how|why)(?:['’]s)?\b",
    re.I,
)
_WHO_IS = re.compile(r"^\W*(?:who|what)\s+(?:is|are|was|were)\s+$", re.I)
# After a name that is a part of another phrase: `the editor of Orr | books`.
_PHRASE_GOES_ON = re.compile(rf"^['’]|^\s+(?!{_STOP}|{_VERB}\b)[a-z]")

_PLACES = frozenset(("首都", "省会", "首府", "都城"))
_PEOPLE = KIN | {role for role in ROLES if role.endswith(PERSON_ENDINGS)} | {"人"}
# `《低水》的导演毕业于哪所大学？`, but not `《低水》的导演是谁？`
_CHINESE_ROLE = re.compile(
    rf"^.{{2,40}}?的(?P<role>{'|'.join(sorted(_PEOPLE | _PLACES, key=len, reverse=True))})"
    "(?![和与及、口物员数们类工])(?=.{3})(?!(?:都|分别|现在|目前)*"
    "(?:是谁|是哪[位个]|是什么|是多少|叫什么|有谁|有哪|有几|有多少|姓什么))"
)
_CHINESE_ASKING = re.compile(
    "什么时候|什么|哪[里儿年天位所个座些款家种]?|谁|多少|几[个位年天]?|吗|呢|[？?]"
)


@dataclass(frozen=True, slots=True)
class Nested:
    """A question that contains a description, and the question for what is described."""

    inner: Question
    before: str
    after: str

    def outer(self, answer: str) -> Question:
        """Return the question with the inner question's answer in place of the description.

        If it then asks for a relation of a name, it is phrased as one.
        """
        text = f"{self.before}{answer}{self.after}"
        relations = (
            other for other in _of_names(text) if other.is_whole and not other.words_around
        )
        relation = next(relations, None)
        return relation.inner if relation else analyse(text)

    @property
    def is_whole(self) -> bool:
        """Whether the question starts `What is` or `Who was` and goes on with the description."""
        return bool(_WHO_IS.match(self.before))

    @property
    def words_around(self) -> str:
        """The content words around the description, which tell what is asked of it."""
        if self.inner.is_chinese:
            return _CHINESE_ASKING.sub("", simplified(self.after))
        return content_words(f"{self.before} {self.after}")


def find_nested(question: Question) -> list[Nested]:
    """Return the descriptions in a question of which it asks something, the shortest first."""
    text = question.text.strip()
    if len(text) > LONGEST:
        return []
    if question.is_chinese:
        return list(_of_roles(text))
    if not _WH.match(text):
        return []
    found = [nested for nested in (*_of_names(text), *_of_clauses(text)) if nested.words_around]
    found.sort(key=lambda nested: -len(nested.before) - len(nested.after))
    return found[:MOST]


def _of_roles(text: str) -> Iterator[Nested]:
    match = _CHINESE_ROLE.match(simplified(text))
    if match:
        described, after = text[: match.end("role")], text[match.end("role") :]
        what = "什么" if match["role"] in _PLACES else "谁"
        yield Nested(analyse(f"{described}是{what}？"), "", after)


def _of_names(text: str) -> Iterator[Nested]:
    """Yield what is described by a noun and a name, as a relation that the reader knows."""
    for pattern in (_OF, _OWNED_BEFORE_VERB if _WH_DO.match(text) else _OWNED):
        for match in _matches(pattern, text):
            before, after = text[: match.start()], text[match.end() :]
            if not _PHRASE_GOES_ON.match(after) or _DO.search(before):
                noun = " ".join(match["noun"].split())
                yield Nested(analyse(relation_question(match["name"], noun)), before, after)


def _of_clauses(text: str) -> Iterator[Nested]:
    for match in _matches(_CLAUSE, text):
        before, clause, after = text[: match.start()], match["clause"].rstrip(" ?"), ""
        noun, verb = match["noun"], _NOUN_AND_VERB.match(match["noun"])
        if verb and (_DO.search(before) or _PARTICIPLE.match(verb["verb"])):
            noun, after = verb["noun"], f" {verb['verb']}"
        elif _AUXILIARY.search(before):
            ended = _CLAUSE_AND_VERB.match(clause)
            if not ended:
                continue
            clause, after = ended["clause"], ended["after"]
        described = f"{noun} {match['relative']} {clause}"
        yield Nested(analyse(f"What is the {described}?"), before, f"{after}?")


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that start at a word, but not those within another one."""
    end = 0
    for word in re.finditer(r"(?<!\S)\S", text):
        match = pattern.match(text, word.start()) if word.start() else None
        if match and match.end() > end:
            end = match.end()
            yield match
