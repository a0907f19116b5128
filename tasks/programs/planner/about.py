"""Questions that ask for nothing but an entity, or for what relates two of them."""

import re

from tasks.graphs.graph import Graph
from tasks.graphs.question_names import names_in
from tasks.programs.planner.program_text import write_description, write_relationship
from tasks.programs.planner.topics import SLOT
from tasks.text.chinese_words import simplified
from tasks.text.question import Question, Span

_NAME = rf"(?:the |an? )?{SLOT}"
_ABOUT = re.compile(
    rf"(?:what|who)(?: (?:is|was|are|were)|['’]s) {_NAME}"
    rf"|(?:please )?(?:tell me (?:more |something )?about|describe|explain) {_NAME}"
    rf"|what do you know about {_NAME}"
    rf"|请?(?:给?我?(?:介绍|讲|说|描述|解释)(?:一下)?|什么是|谁是|告诉我关于){SLOT}(?:的情况)?"
    rf"|{SLOT}(?:到底|究竟)?是(?:什么|谁|什么人|何人|个?什么东西)",
    re.I,
)
_JOINED = "(?:related|connected|linked|tied)"
_TIE = "(?:relationship|relation|connection|link)"
_RELATED = re.compile(
    rf"how (?:are|were) {_NAME} and {_NAME} {_JOINED}(?: to each other)?"
    rf"|how (?:is|was) {_NAME} {_JOINED} (?:to|with) {_NAME}"
    rf"|what (?:connects|links|relates|joins) {_NAME} (?:and|to|with) {_NAME}"
    rf"|what(?: (?:is|was)|['’]s) the {_TIE} (?:between|of) {_NAME} (?:and|to|with) {_NAME}"
    rf"|{SLOT}[和与跟同及]{SLOT}(?:之间)?(?:的(?:关系|联系)是(?:什么|怎样的)"
    rf"|[有是存在]*(?:什么|怎样的?|何|啥)(?:样的)?(?:关系|联系|关联))",
    re.I,
)


def write_about(question: Question, graph: Graph) -> str | None:
    """Return the program that describes the only name in a question, or relates the only two.

    None if the question asks for anything else, or names more or less.
    """
    names = names_in(question, graph).apart
    spans = sorted((name.start, name.end) for name in names)
    labels = [question.text[slice(*span)] for span in spans]
    masked = simplified(_masked(question.text, spans))
    if len(spans) == 1 and _ABOUT.fullmatch(masked):
        return write_description(*labels)
    if len(spans) == 2 and _RELATED.fullmatch(masked):
        return write_relationship(*labels)
    return None


def _masked(text: str, spans: list[Span]) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]}{SLOT}{text[end:]}"
    return " ".join(text.split()).rstrip(" ?？.。!！")
