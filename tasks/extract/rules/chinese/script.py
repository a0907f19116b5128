"""Restore traditional characters in facts, since texts are read in simplified characters."""

from tasks.extract.extracted import Extracted
from tasks.text.chinese_words import simplified

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
