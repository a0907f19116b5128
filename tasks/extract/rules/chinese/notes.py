"""Entity-aspect notes: stretches of a passage on one side of its subject, with their question."""

from tasks.extract.rules.chinese.lexicon import ASPECTS, LEANING
from tasks.extract.rules.chinese.naming import TypedName
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.tokens import SegmentedSentence
from tasks.extract.rules.chinese.whole import is_plain
from tasks.text.chinese_words import STOP_WORDS

LONGEST_NOTE = 3  # sentences
# Notes may hold this share of a passage's characters, so that they stay a choice.
SHARE = 0.58
GENERAL = "概况"


def write_notes(passage: PassageReading, sentences: list[SegmentedSentence], headings: str) -> None:
    """Note what the triples and descriptions leave unsaid, the least said first."""
    stated_facts = _stated_facts(passage)
    room = SHARE * sum(sentence.end - sentence.start for sentence in sentences)
    chosen: list[int] = []
    for _, number in sorted(_sentences_with_news(passage, sentences, stated_facts)):
        length = sentences[number].end - sentences[number].start
        if length <= room:
            chosen.append(number)
            room -= length
    pattern = "heading_note" if _heading(passage, headings) else "note"
    for name, aspect, group in _groups(passage, sentences, sorted(chosen), headings):
        if name.text:
            passage.note(name, aspect, (group[0].start, group[-1].end), pattern)


def _stated_facts(passage: PassageReading) -> str:
    extracted = passage.extracted
    return "\n".join(
        [f"{t['head']} {t['relation']} {t['tail']}" for t in extracted.triples]
        + [row["text"] for row in extracted.descriptions]
    )


def _sentences_with_news(
    passage: PassageReading, sentences: list[SegmentedSentence], stated_facts: str
) -> list[tuple[float, int]]:
    """Each sentence with (minus) the words it would add for its length."""
    ranks = []
    for number, sentence in enumerate(sentences):
        words = {token.text for token in sentence.tokens if token.tag != "x"} - STOP_WORDS
        new = sum(word not in stated_facts for word in words)
        whole = is_plain(sentence.tokens) and sentence.tokens[0].text not in LEANING
        if new and whole and len(words) >= 3:
            ranks.append((-new / (sentence.end - sentence.start + 5), number))
    return ranks


def _groups(
    passage: PassageReading, sentences: list[SegmentedSentence], chosen: list[int], headings: str
) -> list[tuple[TypedName, str, list[SegmentedSentence]]]:
    """Neighbouring sentences on the same side of the same thing, at most three together."""
    groups: list[tuple[TypedName, str, list[SegmentedSentence]]] = []
    last = -2
    for number in chosen:
        sentence = sentences[number]
        name, aspect = _about(passage, sentence, headings)
        joins = groups and last == number - 1 and len(groups[-1][2]) < LONGEST_NOTE
        if joins and groups[-1][:2] == (name, aspect):
            groups[-1][2].append(sentence)
        else:
            groups.append((name, aspect, [sentence]))
        last = number
    return groups


def _about(
    passage: PassageReading, sentence: SegmentedSentence, headings: str
) -> tuple[TypedName, str]:
    """Whom a sentence is about and which side of them: the heading it stands under, or its words.

    It is about the document's subject, unless it names another person or work as its own.
    """
    heading = _heading(passage, headings)
    if heading:
        return passage.title, heading
    text = passage.text[sentence.start : sentence.end]
    subject = passage.subjects.get(sentence.start, passage.title)
    if subject.kind not in ("person", "work") or passage.title.text in text:
        subject = passage.title
    scores = [
        (sum(text.count(word) for word in words), -number, aspect)
        for number, (aspect, words) in enumerate(ASPECTS.items())
    ]
    best, _, aspect = max(scores)
    return subject, aspect if best else GENERAL


def _heading(passage: PassageReading, headings: str) -> str:
    """The innermost heading, empty if it is only the title."""
    heading = headings.split(" > ")[-1].strip()
    return "" if heading == passage.title.text else heading
