"""Entity-aspect notes: spans of a passage on one aspect of its subject, with their question."""

import re

from tasks.extract.rules.chinese.acting import predicate_at
from tasks.extract.rules.chinese.asides import split_clauses
from tasks.extract.rules.chinese.clauses import parse_clause
from tasks.extract.rules.chinese.lexicon import ASPECTS, COPULAS, LEANING, PRONOUNS
from tasks.extract.rules.chinese.naming import TypedName
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.standing import take_standing
from tasks.extract.rules.chinese.tokens import SegmentedSentence
from tasks.extract.rules.chinese.whole import is_person, is_plain
from tasks.text.chinese_words import STOP_WORDS

LONGEST_NOTE = 3  # sentences
# Notes may cover this share of a passage's characters, so that they remain a selection.
SHARE = 0.58
GENERAL = "概况"
LONGEST_SIDE = 20  # characters
OF_PERSONS = frozenset(["出生与家庭", "教育", "职业", "荣誉", "作品", "研究", "逝世"])
WHOLE_SENTENCE = re.compile(r"[。！][”’」』）)]*$")
MARKUP = re.compile(r"[`<>{}|\[\]]|https?:|\.\.\.")
MARKS = re.compile(r"\[\[.*|\{#.*|^[\d.、\s]+|^第?[零一二三四五六七八九十]+[、章节条]\s*")
NO_SIDE = re.compile("[，。：；！？【】]")
QUESTION = re.compile("什么|[为如有]何|怎[样么]|谁|哪[些个里种一]|多少|[是能可]否|[吗呢][？?]")


def write_notes(passage: PassageReading, sentences: list[SegmentedSentence], headings: str) -> None:
    """Add notes on content that no triple or description states, the densest sentences first."""
    stated_facts = _stated_facts(passage)
    room = SHARE * sum(sentence.end - sentence.start for sentence in sentences)
    chosen: list[int] = []
    for _, number in sorted(_sentences_with_news(passage, sentences, stated_facts, headings)):
        length = sentences[number].end - sentences[number].start
        if length <= room:
            chosen.append(number)
            room -= length
    pattern = "heading_note" if _heading(passage, headings) else "note"
    for name, aspect, group in _groups(passage, sentences, sorted(chosen), headings):
        question = f"关于{name.text}的{aspect}，已知什么？"
        if QUESTION.search(aspect):
            question = aspect
        elif aspect == GENERAL:
            question = f"关于{name.text}，已知什么？"
        span = (group[0].start, group[-1].end)
        passage.note(name, aspect, question, span, pattern)


def _stated_facts(passage: PassageReading) -> str:
    extracted = passage.extracted
    return "\n".join(
        [f"{t['head']} {t['relation']} {t['tail']}" for t in extracted.triples]
        + [row["text"] for row in extracted.descriptions]
    )


def _sentences_with_news(
    passage: PassageReading, sentences: list[SegmentedSentence], stated_facts: str, headings: str
) -> list[tuple[float, int]]:
    """Return minus the new words per character, and the number, of each suitable sentence."""
    ranks = []
    for number, sentence in enumerate(sentences):
        words = {token.text for token in sentence.tokens if token.tag != "x"} - STOP_WORDS
        new = sum(word not in stated_facts for word in words)
        name, aspect = _about(passage, sentence, headings)
        about = name.text and aspect and _stands_alone(passage, sentence)
        if new and len(words) >= 3 and about:
            ranks.append((-new / (sentence.end - sentence.start + 5), number))
    return ranks


def _stands_alone(passage: PassageReading, sentence: SegmentedSentence) -> bool:
    """Return whether a sentence is complete, plain, and understandable without its context."""
    text = passage.text[sentence.start : sentence.end]
    return (
        is_plain(sentence.tokens)
        and _says_something(passage, sentence)
        and sentence.tokens[0].text not in LEANING
        and sentence.tokens[0].text not in PRONOUNS
        and WHOLE_SENTENCE.search(text) is not None
        and not MARKUP.search(text)
        and all(text.count(a) == text.count(b) for a, b in ("（）", "“”", "《》", "「」", "()"))
    )


def _says_something(passage: PassageReading, sentence: SegmentedSentence) -> bool:
    """Return whether a sentence states something about its subject: no step, no event of a story.

    An event (了) counts as part of a story unless the sentence names the document's subject.
    """
    happened = any(token.tag == "ul" for token in sentence.tokens)
    if happened and passage.title.text not in passage.text[sentence.start : sentence.end]:
        return False
    for tokens in split_clauses(sentence.tokens)[0]:
        clause = parse_clause(take_standing(tokens).tokens or tokens)
        if clause.verb in COPULAS or (clause.verb and predicate_at(tokens) is not None):
            people = any(token.tag[:2] == "nr" for token in clause.subject)
            return bool(clause.subject) and clause.subject[0].tag[0] not in "vr" and not people
    return False


def _groups(
    passage: PassageReading, sentences: list[SegmentedSentence], chosen: list[int], headings: str
) -> list[tuple[TypedName, str, list[SegmentedSentence]]]:
    """Group neighbouring sentences on the same aspect of the same entity, at most three in each."""
    groups: list[tuple[TypedName, str, list[SegmentedSentence]]] = []
    last = -2
    for number in chosen:
        sentence = sentences[number]
        name, aspect = _about(passage, sentence, headings)
        gap = passage.text[sentences[number - 1].end : sentence.start] if number else ""
        joins = (
            "\n" not in gap and groups and last == number - 1 and len(groups[-1][2]) < LONGEST_NOTE
        )
        if joins and groups[-1][:2] == (name, aspect):
            groups[-1][2].append(sentence)
        else:
            groups.append((name, aspect, [sentence]))
        last = number
    return groups


def _about(
    passage: PassageReading, sentence: SegmentedSentence, headings: str
) -> tuple[TypedName, str]:
    """Return the entity and the aspect that a sentence is about, by its heading or its words.

    The entity is the document's subject, unless the sentence has another person or work as its
    subject. Without a heading, or about a person, the aspect is empty unless the sentence names the
    entity: sections about a life also tell of its time.
    """
    heading = _heading(passage, headings)
    if heading and not is_person(passage.title):
        return passage.title, heading
    text = passage.text[sentence.start : sentence.end]
    subject = passage.subjects.get(sentence.start, passage.title)
    if heading or subject.kind not in ("person", "work") or passage.title.text in text:
        subject = passage.title
    meant = heading and any(token.text in PRONOUNS for token in sentence.tokens)
    if not meant and not any(name in text for name in (subject.text, *passage.forms)):
        return subject, ""
    if heading:
        return subject, heading
    scores = [
        (sum(text.count(word) for word in words if len(word) > 1), -number, aspect)
        for number, (aspect, words) in enumerate(ASPECTS.items())
        if is_person(subject) or aspect not in OF_PERSONS
    ]
    best, _, aspect = max(scores)
    return subject, aspect if best else GENERAL


def _heading(passage: PassageReading, headings: str) -> str:
    """Return the innermost heading without its marks and the title; empty if it names no aspect."""
    heading = MARKS.sub("", headings.split(" > ")[-1]).strip()
    heading = heading if QUESTION.search(heading) else heading.rstrip("？?")
    if heading != passage.title.text:
        heading = heading.removeprefix(passage.title.text).removeprefix("的").strip()
    named = QUESTION.search(heading) or not NO_SIDE.search(heading)
    short = len(heading) <= LONGEST_SIDE and heading != passage.title.text
    return heading if named and short else ""
