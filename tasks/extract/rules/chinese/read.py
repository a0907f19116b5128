"""Extract the facts of Chinese passages."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from tasks.extract.extracted import Extracted, Mention, or_failed
from tasks.extract.rules.attributes import NO_RELATION, Attribute, find_attributes, heading_above
from tasks.extract.rules.chinese.naming import (
    WEIGHTS,
    TypedName,
    described_kind,
    is_name,
    kind_by_ending,
    looks_like_person,
    mention_features,
    names_document,
    plain_title,
    short_forms,
)
from tasks.extract.rules.chinese.passage import LONGEST_NAME, LONGEST_TAIL, PassageReading, usable
from tasks.extract.rules.chinese.predicates import WRITTEN
from tasks.extract.rules.chinese.tokens import (
    NAME_TAGS,
    PERSON_TAGS,
    SegmentedSentence,
    Token,
    read_sentences,
    text_of,
)
from tasks.extract.rules.kinds import kind_scores
from tasks.extract.rules.layout import Record, lay_out
from tasks.text.chinese_words import in_traditional, segmenter, simplified, tag_of
from tasks.text.sentences import without_breaks

LONGEST_LABEL = 12
_SIGNS = {"CNY": "元", "USD": "$"}
_OWN_MONEY = {
    "TWD": re.compile(r"NT\$|[台臺][币幣]|TWD"),
    "HKD": re.compile(r"HK\$|港[元币幣]|HKD"),
    "MOP": re.compile(r"葡[币幣]|澳[门門][元币幣]|MOP"),
}
_FOREIGN_MONEY = re.compile(r"人民[币幣]|US\$|美[元金]|RMB|CNY|USD")
PARENTHESES = re.compile(r"[（(][^（）()]*[)）]")
# First-person words for the organisation that writes, except in quotations.
WE = re.compile(r"(?:我们公司|我们|本公司|我公司|我司)(?![^“”\n]*”)")
SENTENCE_MARKS = re.compile("[，。；！？：]")
QUESTION = re.compile("什么|如何|怎[么样]|是否|示例|举例")
STEP = re.compile(r".*(?:可能|建议|可以|应该|需要)|[\[将把用请勿不在对]|使用|用例|例如|确认|注意")


def extract_chinese(passages: Iterable[dict[str, Any]]) -> Iterator[Extracted]:
    """Yield the facts that the Chinese rules find in each passage, in order."""
    for passage in passages:
        yield or_failed(passage["passage_id"], partial(_facts_of, passage))


def _facts_of(passage: dict[str, Any]) -> Extracted:
    extracted = read_passage(passage).extracted
    extracted.triples = list(_in_own_money(extracted.triples, passage))
    return extracted


def _in_own_money(triples: list[Mention], passage: dict[str, Any]) -> Iterator[Mention]:
    """Yield the triples; in a traditional text 元 and $ are money that it names, or of no country.

    Taiwan, Hong Kong and Macau write them so.
    """
    text = " ".join((passage["title"], passage["headings"], passage["text"]))
    is_traditional = any(row["unit"] in _SIGNS for row in triples) and in_traditional(text)
    named = [unit for unit, words in _OWN_MONEY.items() if words.search(text)]
    for row in triples:
        sign = _SIGNS.get(row["unit"], "") if is_traditional else ""
        stated = sign in row["tail"] and not _FOREIGN_MONEY.search(row["tail"])
        yield {**row, "unit": named[0] if len(named) == 1 else sign} if sign and stated else row


def read_passage(row: dict[str, Any]) -> PassageReading:
    """Read one passage; the result depends on its text, title, headings and speaker alone."""
    from tasks.extract.rules.chinese.facts import read_sentence
    from tasks.extract.rules.chinese.notes import write_notes

    layout = lay_out(row)
    speaker = row.get("speaker", "")
    prose = layout.prose.inserted(WE, lambda _: speaker) if speaker else layout.prose
    written = without_breaks(prose.text)
    text = simplified(written)
    title = plain_title(simplified(row["subject"]))
    forms = short_forms(title, text)
    names = {title, simplified(speaker), *forms} - {""}
    sentences = read_sentences(text, sorted(names, key=len, reverse=True))
    kind = title_kind(title, sentences)
    extracted = Extracted(row["passage_id"], sentences=layout.prose.whole_sentences("zh"))
    passage = PassageReading(text, TypedName(title, kind), frozenset(forms), extracted)
    passage.document = names_document(title)
    if not passage.document:
        passage.spoke_of(passage.title)
    for sentence in sentences:
        passage.sentence = sentence
        read_sentence(passage, sentence)
    collect_names(passage, sentences)
    for form in sorted(passage.forms):
        if (start := text.find(form)) >= 0:
            passage.alias(passage.title, form, (start, start + len(form)), "short_form")
    write_notes(passage, sentences, simplified(row["headings"]))
    if text != written or title != plain_title(row["subject"]):
        as_written(extracted, written, plain_title(row["subject"]), row["headings"])
    extracted.place_in(prose)
    for attribute in find_attributes(row, layout, "zh"):
        if _is_stated(attribute):
            passage.record(row["text"], attribute)
    passage.sentence = passage.clause = None
    for record in (*layout.records, *layout.labelled):
        _state_record(passage, record, row)
    extracted.suppose(layout.supposed)
    return passage


def _state_record(passage: PassageReading, record: Record, row: dict[str, Any]) -> None:
    """Add the statement of a labelled value or table cell, unless a fact covers it already."""
    span = (record.start, record.end)
    found = (*passage.extracted.triples, *passage.extracted.statements)
    if any(
        mention.get("subject", "-") and mention["span_start"] in range(*span) for mention in found
    ):
        return
    label, value = record.label, record.value.rstrip("；;。")
    unclear = not any(map(str.isalpha, label)) or NO_RELATION.fullmatch(label)
    if QUESTION.search(label) or unclear or value.endswith(("：", ":")):
        return
    owner = not passage.document and record.is_owned
    title = plain_title(row["subject"]) if owner else ""
    subject, heading = record.subject or title, heading_above(row)
    if not subject:
        tags = [tag_of(word)[:1] for word in segmenter().cut(simplified(label))]
        names = tags[:1] not in (["v"], ["c"], ["d"], ["p"]) or tags == ["v", "n"]  # 迁移时间
        subject, label = label if names else "", "是"
    elif not record.subject and heading not in ("", subject):
        label = f"{heading} {label}"
    if usable(subject, LONGEST_NAME):
        name = subject if subject == title else ""
        passage.state(span, subject=subject, subject_name=name, predicate=label, object=value)


def _is_stated(attribute: Attribute) -> bool:
    """Return whether a labelled value is usable: its parts are no sentences, questions or steps."""
    label, value = (PARENTHESES.sub("", text) for text in (attribute.relation, attribute.tail))
    return (
        usable(attribute.head, LONGEST_NAME)
        and usable(attribute.tail, LONGEST_TAIL)
        and "：" not in attribute.head
        and len(label) <= LONGEST_LABEL
        and not (SENTENCE_MARKS.search(label) or QUESTION.search(label))
        and not (SENTENCE_MARKS.search(value) or STEP.match(value))
    )


def title_kind(title: str, sentences: list[SegmentedSentence]) -> str:
    """Return the kind of a document's subject by its definition, its name or its pronouns."""
    for sentence in sentences[:2]:
        tokens = sentence.tokens
        other = tokens[0].text not in title and title not in tokens[0].text
        if other or text_of(tokens).startswith(f"{title}的"):  # 渡口镇的人口为三万人
            continue
        for position, token in enumerate(tokens):
            if token.text in ("是", "为") and position + 1 < len(tokens):
                stops = (i for i in range(position, len(tokens)) if tokens[i].text in "，。；、（")
                end = next(stops, len(tokens))
                kind = described_kind(text_of(tokens[position + 1 : end]))
                if kind != "unknown":
                    return kind
                break
    if any(mark in title for mark in "·•・‧"):
        return "person"
    kind = {"ns": "place", "nt": "organisation"}.get(tag_of(title), "unknown")
    kind = kind if kind != "unknown" else kind_by_ending(title)
    words = {token.text for sentence in sentences for token in sentence.tokens}
    human = (
        kind == "unknown" and words & {"他", "她"} and looks_like_person(title, beside_role=True)
    )
    return "person" if human else kind


def collect_names(passage: PassageReading, sentences: list[SegmentedSentence]) -> None:
    """Add every name in the passage, whether or not a fact was found about it."""
    kinds = {triple["head"]: triple["head_kind"] for triple in passage.extracted.triples}
    for sentence in sentences:
        for first, last in name_runs(sentence.tokens):
            tokens = sentence.tokens[first:last]
            name = passage.name_phrase(tokens)
            if not usable(name.text, LONGEST_NAME) or not _reads_as_name(name.text, tokens):
                continue
            kind = name.kind if name.kind != "unknown" else kinds.get(name.text, "unknown")
            stated = kind != "unknown" and (
                name == passage.title or kind_by_ending(name.text) == kind or kind == "work"
            )
            row = {"name": name.text, "kind": kind, "kind_stated": stated}
            features = mention_features(sentence.tokens, first, last)
            row |= {"kind_scores": kind_scores(features, WEIGHTS), "capital_tells": None}
            span = {"span_start": tokens[0].start, "span_end": tokens[-1].end}
            passage.extracted.names.append(row | span)


def _reads_as_name(name: str, tokens: list[Token]) -> bool:
    """Return whether a run is a name, not a character, code or word mistaken for a person."""
    if len(name) < 2 or LATIN_CODE.fullmatch(name):
        return False
    return len(tokens) > 1 or tokens[0].tag not in PERSON_TAGS or looks_like_person(name)


# x, padding, textStyle.rich, backgroundColor, v5, /etc/hosts: not written like Latin names.
LATIN_CODE = re.compile(r"[a-z/~.][\w./~-]*(?: [\w./~-]+)*|\S*[._]\S*|[A-Za-z]\d*|\d+[A-Z]|\S+\(\)")
RUN_TAGS = NAME_TAGS | WRITTEN - {"quote"}


def name_runs(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of tokens that forms one name: 剑桥大学|国王|学院."""
    position = 0
    while position < len(tokens):
        if tokens[position].tag not in RUN_TAGS:
            position += 1
            continue
        end = position + 1
        best = end
        while end < len(tokens) and end - position < 6 and tokens[end].nominal:
            if tokens[end].tag in ("work", "nr", "name", "time", "number", "m"):
                break
            end += 1
            if is_name(tokens[position:end]):
                best = end
        yield position, best
        position = best


# Relations keep one form for both scripts, so that 首都 and 首都 of two documents are the same.
_FIELDS = (
    *("name", "head", "tail", "entity", "alias", "text", "aspect"),
    *("subject", "subject_name", "predicate", "object", "time", "place", "attribution"),
)


def as_written(extracted: Extracted, text: str, *others: str) -> None:
    """Put the names, values and texts of facts into the characters of their source `text`.

    Facts may also contain words of `others`, the title and the headings.
    """
    reading = simplified(text)
    written = str.maketrans("".join(map(simplified, others)) + reading, "".join(others) + text)
    titles = {simplified(other): other for other in others}
    for mentions in (*extracted.facts, extracted.names):
        for mention in mentions:

            def stands(words: str, start: int = mention["span_start"]) -> str:
                place = reading.find(words, start)
                here = text[place : place + len(words)] if place >= 0 else ""
                return titles.get(words) or here or words.translate(written)

            read = [mention.get(field, "") for field in ("entity", "aspect")]
            for field in _FIELDS:
                if words := mention.get(field):
                    mention[field] = stands(words)
            if question := mention.get("question"):
                for words, field in zip(read, ("entity", "aspect"), strict=True):
                    question = question.replace(words, mention[field])
                mention["question"] = question
            if arguments := mention.get("arguments"):
                mention["arguments"] = list(map(stands, arguments))
