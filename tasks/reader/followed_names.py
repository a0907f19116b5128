"""Texts of a second round: about the names in the sentences that are nearest to a question.

Each is read after its sentence, so that one window holds both (compare Xiong et al. 2021).
"""

from dataclasses import replace
from itertools import islice

from tasks.reader.asked_names import asked_names
from tasks.reader.coverage import Coverage
from tasks.reader.texts import Source, Text, TextPart, pieces
from tasks.text.question import Question
from tasks.text.stems import stems_of, words_of

LEADING = 3  # sentences from which the second round starts
NAMES = 4  # names that are followed from them


def texts_beyond(question: Question, texts: list[Text], source: Source) -> list[Text]:
    """Return texts about the names in the sentences nearest to a question, each after its sentence.

    Names in the question itself are left out.
    """
    content = question.text if question.is_chinese else question.content_words
    coverage = Coverage(question, source)
    known = words_of(question.text)

    def nearness(part: TextPart) -> float:
        return coverage.share(part.evidence.text)

    parts = [part for text in texts for part in text.parts]
    leading = sorted(parts, key=lambda part: -nearness(part))[:LEADING]
    pairs = {
        name.text: part
        for part in reversed(leading)
        for name in source.names_in(part.evidence.text)
        if not words_of(name.text) <= known
    }
    texts = []
    followed = list(islice(reversed(pairs.items()), NAMES))
    open_words = []
    for _, part in followed:
        covered = words_of(part.evidence.text)
        words = (content[a:b] for a, b, word in stems_of(content) if word not in covered)
        open_words.append(" ".join(words))
    names = [name for name, _ in followed]
    about = source.about(list(zip(names, open_words, strict=True)))
    for (_, part), found in zip(followed, about, strict=True):
        for text in found:
            others = [other for other in text.parts if other.evidence.text != part.evidence.text]
            text = replace(text, parts=tuple(others))
            texts += pieces(text, part)
    return texts


def leads_to(part: TextPart, text: Text, question: Question) -> bool:
    """Return whether a part of a text answers only after the sentence that led to the text.

    That has words of the names in the question, or of a question without names, which the part
    lacks.
    """
    led = text.led.evidence.text if text.led else ""
    names = " ".join(asked_names(question)) or question.content_words
    asked, said, own = (
        words_of(words, cut_chinese=question.is_chinese)
        for words in (names, led, part.evidence.text)
    )
    return bool(asked & said - own)
