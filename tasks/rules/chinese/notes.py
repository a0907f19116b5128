"""Entity-aspect notes: stretches of a passage on one side of its subject, with their question."""

from tasks.chinese_words import STOP_WORDS
from tasks.rules.chinese.confidence import confidence
from tasks.rules.chinese.lexicon import ASPECTS
from tasks.rules.chinese.passage import Passage
from tasks.rules.chinese.tokens import Sentence

LONGEST_NOTE = 3  # sentences
# Notes may hold this share of a passage's characters, so that they stay a choice.
SHARE = 0.58
GENERAL = "概况"


def write_notes(passage: Passage, sentences: list[Sentence], headings: str) -> None:
    """Note what the triples and descriptions leave unsaid, the least said first."""
    said = _said(passage)
    room = SHARE * sum(sentence.end - sentence.start for sentence in sentences)
    chosen: list[int] = []
    for _, number in sorted(_unsaid(passage, sentences, said)):
        length = sentences[number].end - sentences[number].start
        if length <= room:
            chosen.append(number)
            room -= length
    for group in _groups(passage, sentences, sorted(chosen), headings):
        _add(passage, sentences, group, headings)


def _said(passage: Passage) -> str:
    found = passage.found
    return "\n".join(
        [f"{t['head']} {t['relation']} {t['tail']}" for t in found.triples]
        + [row["text"] for row in found.descriptions]
    )


def _unsaid(passage: Passage, sentences: list[Sentence], said: str) -> list[tuple[float, int]]:
    """Each sentence with (minus) the words it would add for its length."""
    ranks = []
    for number, sentence in enumerate(sentences):
        words = {token.text for token in sentence.tokens if token.tag != "x"} - STOP_WORDS
        new = sum(word not in said for word in words)
        if new and len(words) >= 3:
            ranks.append((-new / (sentence.end - sentence.start + 5), number))
    return ranks


def _groups(
    passage: Passage, sentences: list[Sentence], chosen: list[int], headings: str
) -> list[list[int]]:
    """Neighbouring sentences on the same aspect, at most three together."""
    groups: list[list[int]] = []
    for number in chosen:
        last = groups[-1] if groups else []
        if (
            last
            and last[-1] == number - 1
            and len(last) < LONGEST_NOTE
            and _aspect(passage, sentences[number], headings)
            == _aspect(passage, sentences[last[0]], headings)
        ):
            last.append(number)
        else:
            groups.append([number])
    return groups


def _aspect(passage: Passage, sentence: Sentence, headings: str) -> str:
    """The heading a sentence stands under, else the aspect most of its words are about."""
    heading = headings.split(" > ")[-1].strip()
    if heading and heading != passage.title.text:
        return heading
    text = passage.text[sentence.start : sentence.end]
    scores = [
        (sum(text.count(word) for word in words), -number, aspect)
        for number, (aspect, words) in enumerate(ASPECTS.items())
    ]
    best, _, aspect = max(scores)
    return aspect if best else GENERAL


def _add(passage: Passage, sentences: list[Sentence], group: list[int], headings: str) -> None:
    start, end = sentences[group[0]].start, sentences[group[-1]].end
    aspect = _aspect(passage, sentences[group[0]], headings)
    name = passage.title
    pattern = "heading_note" if headings.strip() else "note"
    passage.found.aspects.append(
        {
            "ordinal": len(passage.found.aspects),
            "entity": name.text,
            "kind": name.kind,
            "aspect": aspect,
            "text": passage.text[start:end],
            "question": f"{name.text}的{aspect}是什么？",
            "span_start": start,
            "span_end": end,
            "confidence": confidence(pattern),
        }
    )
