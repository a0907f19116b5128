"""Measure which share of a question's words a text covers, weighted by their rarity."""

from tasks.reader.texts import Source, Text, TextPart
from tasks.text.question import Question
from tasks.text.stems import stems_of, words_of

_DATE_WORDS = frozenset({"year", "date", "time", "day"})


class Coverage:
    """The weights of a question's words, and the share of them that texts cover."""

    def __init__(self, question: Question, source: Source) -> None:
        self._cut = question.is_chinese
        content = question.text if question.is_chinese else question.content_words
        left_out = _DATE_WORDS if question.expected_answer.form == "date" else frozenset()
        rows = [row for row in stems_of(content) if row[2] not in left_out]
        rarity = {word: source.rarity(content[start:end]) for start, end, word in rows}
        total = sum(rarity.values()) or 1.0
        self._weights = {word: value / total for word, value in rarity.items()}

    def is_related(self, text: Text, part: TextPart) -> bool:
        """Return whether a part of a text shares a word with the question, if that has any.

        Vectors also find a text about another person of whom the same is said in other words.
        """
        return not self._weights or self.share(text.introduced(part)) > 0

    def share(self, words: str) -> float:
        """Return the share of a question that the words of a text cover, 0 to 1."""
        stems = words_of(words, cut_chinese=self._cut)
        return sum(weight for word, weight in self._weights.items() if word in stems)

    def may_answer(self, text: Text) -> bool:
        """Return whether an answer in a text would be accepted."""
        return any(self.adds(text.led, part) for part in text.parts)

    def adds(self, led: TextPart | None, part: TextPart) -> bool:
        """Return whether a part covers words of the question that the sentence leading to it lacks.

        This is also true if there are no such words, or no such sentence.
        """
        if led is None:
            return True
        known = words_of(led.evidence.text, cut_chinese=self._cut)
        open_ = self._weights.keys() - known
        return not open_ or bool(open_ & words_of(part.evidence.text, cut_chinese=self._cut))
