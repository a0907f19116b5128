"""Facts stated by form rather than by grammar.

Key-value text (labelled lines, table rows, fragments under a heading) needs no parsing; dates of
birth and death stand in parentheses after a person's name: "Ada Lovelace (1815 – 1852)".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.aspects import MOST_SENTENCES, question_of_label
from tasks.extract.rules.layout import Layout
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.text.sentences import sentences
from tasks.text.values import Value, find_values, parse_value

STATED_IN = re.compile(r"\s*\((?P<year>\d{4})(?:/\d\d)? ?(?:est\.?)?\)$")
LIST = re.compile(r";(?![^()\n]{0,200}\))|\n+")
WORD_LIST = re.compile(r"[,;](?![^()\n]{0,200}\))|\n")
SENTENCE_END = re.compile(r"(?<!\best)[.!?][\"'”’]*(?:\s+[A-Z]|\s*$)|[。！？；]")
ASIDE = re.compile(r"\s?\((?P<inner>[^()\n]{4,120})\)")
DASH = re.compile(r"\s[–—-]\s|[–—]|(?<=\d)-(?=\d)")
BORN = re.compile(r"\b(?:born|b\.)\s", re.IGNORECASE)
DIED = re.compile(r"\b(?:died|d\.)\s", re.IGNORECASE)
LONGEST_FRAGMENT = 200
MOST_ITEMS = 60
# What is stated by form rather than by grammar has no judged sample to fit a confidence to.
STATED = 0.95


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property stated by form (a label, a table, life dates), and where it is stated."""

    head: str
    relation: str
    tail: str
    start: int
    end: int
    value: Value
    kind: str = "unknown"

    @classmethod
    def stated(
        cls, head: str, relation: str, tail: str, span: tuple[int, int], language: str
    ) -> "Attribute":
        """Return the attribute with this tail; "(2023 est.)" tells when it held."""
        year = STATED_IN.search(tail)
        if year is None or year.start() == 0:
            return cls(head, relation, tail, *span, parse_value(tail, language))
        tail = tail[: year.start()]
        value = replace(parse_value(tail, language), valid_from=year["year"], valid_to=year["year"])
        return cls(head, relation, tail, *span, value)

    def triple(self) -> Mention:
        """Return the attribute as a row of TripleMention."""
        return {
            "head": self.head,
            "head_kind": self.kind,
            "relation": self.relation,
            "tail": self.tail,
            "tail_kind": "",
            **value_columns(self.value),
            "valid_from": self.value.valid_from,
            "valid_to": self.value.valid_to,
            **evidence_columns((self.start, self.end), STATED),
        }

    def note(self, text: str) -> Mention:
        """Return an attribute that is too long for a triple as a note of its first sentences."""
        stated = text[self.start : self.end]
        _, length = sentences(stated, "en")[:MOST_SENTENCES][-1]
        return {
            "entity": self.head,
            "kind": self.kind,
            "aspect": self.relation,
            "text": stated[:length],
            "question": question_of_label(self.relation, self.head),
            **evidence_columns((self.start, self.start + length), STATED),
        }


def find_attributes(row: dict[str, Any], layout: Layout, language: str) -> Iterator[Attribute]:
    """Yield what the tables and labelled values of a passage say.

    Labelled values, and fragments under a heading, are about the document's subject if it has one.
    """
    heading = row["headings"].rsplit(" > ", 1)[-1] if row["headings"] else ""
    for record in layout.records:
        label, span = record.label.lower(), (record.start, record.end)
        if record.subject:
            yield Attribute.stated(record.subject, label, record.value, span, language)
        elif row["subject"]:
            above = _lower(heading)
            relation = f"{above} {label}" if above and above not in label else label
            yield from _items(row["subject"], relation, record.value, span, language)
    prose = layout.prose
    if heading and row["subject"] and is_fragment(prose.text):
        span = prose.in_source(0, len(prose.text))
        yield from _items(row["subject"], _lower(heading), prose.text.strip(), span, language)


def _items(
    head: str, relation: str, value: str, span: tuple[int, int], language: str
) -> Iterator[Attribute]:
    """Yield one attribute, or one per item of a list."""
    separator = WORD_LIST if _is_word_list(value) else LIST
    for item in separator.split(value)[:MOST_ITEMS]:
        if item.strip():
            yield Attribute.stated(head, relation, item.strip(), span, language)


def _is_word_list(value: str) -> bool:
    items = WORD_LIST.split(value)
    plain = all(0 < len(item.split()) <= 4 and not any(map(str.isdigit, item)) for item in items)
    return len(items) >= 3 and plain


def is_fragment(text: str) -> bool:
    """Whether a text under a heading is no sentence: short, without a full stop at the end."""
    short = 0 < len(text.split()) <= LONGEST_FRAGMENT
    return short and not SENTENCE_END.search(text)


def _lower(heading: str) -> str:
    """Return a heading in lower case, but for words that are all capitals."""
    return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in heading.split())


def find_life_dates(passage: ParsedPassage) -> Iterator[Attribute]:
    """Yield the dates of birth and death that parentheses after names state."""
    text = passage.tree.text
    for name in passage.names:
        if name.kind not in ("person", "unknown") and name.name != passage.title:
            continue
        aside = ASIDE.match(text, name.end, name.end + 160)
        if aside is None:
            continue
        for verb, start, end, value in _lives(name, aside["inner"]):
            exact = value.date is not None and value.date.count("-") >= 2
            relation = f"{verb} {'on' if exact else 'in'}"
            start, end = aside.start("inner") + start, aside.start("inner") + end
            value = replace(value, valid_from=None, valid_to=None)
            tail = text[start:end]
            yield Attribute(name.name, relation, tail, name.start, end, value, "person")


def _lives(name: NameSpan, inner: str) -> Iterator[tuple[str, int, int, Value]]:
    """Yield verb, start, end and value of each date inside parentheses."""
    dash = DASH.search(inner)
    dates = [(start, end, value) for start, end, value in find_values(inner, "en") if value.is_date]
    if not dates:
        return
    if BORN.search(inner) and not DIED.search(inner):
        yield "born", *dates[0]
    elif len(dates) == 2 and dash:
        yield "born", *dates[0]
        yield "died", *dates[1]
    elif len(dates) == 1 and name.kind == "person" and dates[0][2].valid_from and dash:
        # "1815–1852" is one value; its dash parts birth from death.
        first, last, _ = dates[0]
        parting = DASH.search(inner[first:last])
        if parting is None:
            return
        middle, after = first + parting.start(), first + parting.end()
        for verb, begin, stop in (("born", first, middle), ("died", after, last)):
            for start, end, value in find_values(inner[begin:stop], "en"):
                if value.is_point:
                    yield verb, begin + start, begin + end, value
