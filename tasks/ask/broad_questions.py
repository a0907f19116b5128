"""Questions that no single passage answers: about the whole corpus, or comparing two things."""

import re
from collections.abc import Iterator

from schemas.answers import Evidence
from schemas.knowledge import Theme
from tasks.ask.context import Item
from tasks.ask.documents import Documents
from tasks.text.chinese_words import simplified
from tasks.text.languages import word_set
from tasks.text.question import Question, analyse
from warehouse.editions import Edition

DOCUMENTS = 3  # cited for a theme from which no sentence is quoted

_ASKING = word_set(
    "theme themes topic topics subjects summary overview gist summarise summarize document "
    "documents text texts file files article articles corpus collection"
)
_BESIDE = word_set(
    "main major key central common overall recurring important general broad brief short quick "
    "give show list tell find describe please everything whole entire cover covered covers contain "
    "contains deal deals discuss discussed talk say"
)
_MAIN_THEMES = re.compile(
    r"\b(?:main|major|key|central|common|recurring|overall|important) (?:themes|topics|subjects)\b"
    "|主要的?(?:主题|话题|议题)",
    re.I,
)
_CHINESE_ASKING = re.compile(
    "主题|话题|议题|概述|概括|概要|总结|综述|摘要|文档|文件|文章|资料|语料"
)
_CHINESE_BESIDE = re.compile(
    "这些|这批|所有|全部|整个|主要|内容|大致|简要|请|一下|给我|帮我|我|有|哪些|是|什么|讲|说|谈|涉及|"
    "包含|关于|的|了|都|吗|里面|里|中|库|一份|一个|做|在"
)
_LEFT, _RIGHT = r"(?P<left>\S.{0,120}?)", r"(?P<right>\S.{0,120}?)"
_REST = r"(?P<rest> (?:in|on|as|with|regarding|when) [^?]{1,120})?\W*$"
_HOW = rf"\bhow (?:do|does|did|is|are|was|were) {_LEFT}"
_DIFFERENCE = r"\b(?:differences?|similarit(?:y|ies)|comparison) (?:between|of)"
_COMPARISONS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_HOW} (?:and|or) {_RIGHT} (?:differ|compare|different|similar|alike)\b{_REST}",
        rf"{_HOW} (?:differ(?:ent)? from|compare (?:to|with)|similar to) {_RIGHT}{_REST}",
        rf"{_DIFFERENCE} {_LEFT} and {_RIGHT}{_REST}",
        rf"\bcompare {_LEFT} (?:and|with|to) {_RIGHT}{_REST}",
        "(?:比较|对比)(?:一下)?(?P<left>[^，。？]{1,30}?)[和与跟](?P<right>[^，。？的]{1,30})"
        r"(?P<rest>的[^，。？]{1,20})?\W*$",
        "(?P<left>[^，。？]{1,30}?)[和与跟](?P<right>[^，。？]{1,30}?)(?:之间)?"
        "(?P<rest>在[^，。？]{1,20}?)?(?:的|有(?:什么|哪些|何))*(?:区别|不同|差异|差别|异同)",
    )
]

_SIDES = ("left", "right", "rest")


def is_about_the_corpus(question: Question) -> bool:
    """Return whether a question that names nothing known asks for what all documents are about.

    It asks for main themes, or it has no words but those that ask for themes, a summary or the
    documents.
    """
    return bool(_MAIN_THEMES.search(simplified(question.text))) or asks_nothing_else(question)


def asks_nothing_else(question: Question) -> bool:
    """Return whether a question has no words but those that ask what documents are about."""
    if question.is_chinese:
        asking = _CHINESE_BESIDE.sub("", simplified(question.text))
        rest = _CHINESE_ASKING.sub("", asking)
        return rest != asking and re.search(r"\w", rest) is None
    words = set(question.content_words.lower().split())
    of_a_value = question.expected_answer.form in ("number", "date")
    return not (of_a_value or words.isdisjoint(_ASKING)) and words <= _ASKING | _BESIDE


def sides_of(question: Question) -> list[Question]:
    """Return what a question that compares two things asks about each; nothing for any other."""
    text = simplified(question.text)
    found = next(filter(None, (one.search(text) for one in _COMPARISONS)), None)
    if found is None:
        return []
    left, right, rest = (question.text[slice(*found.span(part))] for part in _SIDES)
    return [analyse(left + rest), analyse(right + rest)]


def theme_items(edition: Edition, documents: Documents, *, open_only: bool) -> list[Item]:
    """Return the themes of an edition, the largest first; with `open_only`, no sensitive ones."""
    if not edition.rows(Theme):
        return []
    themes = [
        Theme(**row)
        for row in edition.table(Theme).to_pylist()
        if not (open_only and row["sensitivity"] == "sensitive")
    ]
    most = max((len(theme.documents) for theme in themes), default=1)
    return [_item(theme, len(theme.documents) / most, documents) for theme in themes]


def _item(theme: Theme, score: float, documents: Documents) -> Item:
    """Return a theme, cited by its central sentences, else by its central documents."""
    whole = Evidence(text=theme.summary, kind="theme", score=score)
    stated = tuple(_stated(theme, score, documents))
    return Item(theme.summary, whole, "text", theme.name, stated_by=stated)


def _stated(theme: Theme, score: float, documents: Documents) -> Iterator[Evidence]:
    about = documents.about({*theme.sources, *theme.documents[:DOCUMENTS]})
    for text, document, start in zip(theme.sentences, theme.sources, theme.starts, strict=True):
        yield Evidence(
            text=text,
            kind="theme",
            document_id=document,
            uri=about[document].uri,
            span_start=start,
            span_end=start + len(text),
            score=score,
        )
    for document in () if theme.sources else theme.documents[:DOCUMENTS]:
        known = about[document]
        yield Evidence(
            text=known.title, kind="theme", document_id=document, uri=known.uri, score=score
        )
