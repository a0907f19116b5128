"""Statements from dependency parses: answered questions as statements, and shortened sentences.

`When did the war end?` and `1918` give `The war did end in 1918.` A question that cannot be
converted with certainty gives None: there are enough other questions.
"""

from random import Random
from typing import Any

from tasks.text.languages import word_set

AUXILIARIES = word_set(
    "is are was were do does did has have had can could will would should may might must"
)
PREPOSITIONS = word_set(
    "in on at to from by with for of as about after before during under over between into "
    "through because since until around near"
)
WH_WORDS = word_set("who whom what which when where why how whose")
LONGEST = 30  # words of a question


def statement(parsed: Any, answer: str) -> str | None:
    """Return a parsed question (a spaCy Doc) and its answer as a statement, or None."""
    words = [token for token in parsed if not token.is_space and token.text != "?"]
    answer = " ".join(answer.split()).strip(" .,;:")
    if not 3 <= len(words) <= LONGEST or not answer:
        return None
    wh = next((place for place, w in enumerate(words) if w.lower_ in WH_WORDS), None)
    if wh is None or wh > 1 or (wh == 1 and words[0].lower_ not in PREPOSITIONS):
        return None
    end = _end_of_asked(words, wh)
    if end is None:
        return None
    question_words, rest = words[wh:end], words[end:]
    lead = words[0].lower_ if wh == 1 else ""
    if rest[0].lower_ not in AUXILIARIES or rest[0].dep_ == "root" and _is_subject(rest):
        return _join([_counted(question_words, answer), *[w.text for w in rest]])
    return _turned(question_words, rest, lead, answer)


_NEVER_KEPT = frozenset({"parataxis", "punct", "discourse", "vocative", "dep", "cc", "conj"})
_SELDOM_KEPT = frozenset({"acl:relcl", "acl", "advcl", "appos", "obl", "advmod", "nmod", "amod"})


def shortened(sentence: Any, random: Random) -> str | None:
    """Return a statement that a parsed sentence (a spaCy Span) contains, or None.

    The root keeps its subject, its auxiliaries and a random part of its other dependents, so the
    sentence supports the statement.
    """
    root = sentence.root
    if not any(child.dep_.startswith("nsubj") for child in root.children):
        return None
    kept: list[Any] = []
    _keep(root, kept, random, depth=0)
    kept.sort(key=lambda token: token.i)
    if not 4 <= len(kept) <= 25 or kept[0].pos_ == "PRON":
        return None
    text = _join([token.text for token in kept if token.text not in '"“”'])
    return text if len(text) < len(sentence.text) else None


def _keep(token: Any, kept: list[Any], random: Random, depth: int) -> None:
    kept.append(token)
    for child in token.children:
        share = 0.0 if child.dep_ in _NEVER_KEPT else 1.0
        if child.dep_ in _SELDOM_KEPT:
            share = 0.85 if child.dep_ in ("amod", "nmod") else 0.4
        if child.dep_ == "advmod" and child.lower_ in ("not", "never", "no", "n't"):
            share = 1.0
        if random.random() < share:
            _keep(child, kept, random, depth + 1)


def _end_of_asked(words: list[Any], wh: int) -> int | None:
    """Return the end of the interrogative phrase, which is the place of the first verb after it."""
    for place in range(wh + 1, min(len(words), wh + 9)):
        if words[place].pos_ in ("VERB", "AUX"):
            return place
    return None


def _is_subject(rest: list[Any]) -> bool:
    return not any(w.dep_.startswith("nsubj") for w in rest)


def _counted(asked: list[Any], answer: str) -> str:
    """Return the answer with its counted noun: `how many people` and `12` give `12 people`."""
    if len(asked) > 2 and asked[1].lower_ in ("many", "much") and answer[:1].isdigit():
        noun = " ".join(w.text for w in asked[2:])
        return answer if noun.lower() in answer.lower() else f"{answer} {noun}"
    return answer


def _turned(asked: list[Any], rest: list[Any], lead: str, answer: str) -> str | None:
    """Return the question with the subject before its auxiliary and the answer at the end."""
    auxiliary, after = rest[0], rest[1:]
    if not after:
        return None
    subject = next(
        (w for w in after if w.dep_ in ("nsubj", "nsubj:pass", "nsubjpass", "expl")), None
    )
    if subject is None:  # the answer itself is the subject
        if auxiliary.lower_ in ("do", "does", "did"):
            return None
        return _join([_counted(asked, answer), *[w.text for w in rest]])
    places = {w.i for w in subject.subtree}
    inside = [place for place, w in enumerate(after) if w.i in places]
    if not inside or inside[0] != 0:
        return None
    cut = inside[-1] + 1
    subject_words, others = after[:cut], after[cut:]
    placed = _placed(asked, lead, answer, ends_open=bool(others) and others[-1].pos_ == "ADP")
    return _join(
        [*[w.text for w in subject_words], auxiliary.text, *[w.text for w in others], placed]
    )


def _placed(asked: list[Any], lead: str, answer: str, *, ends_open: bool) -> str:
    """Return the answer with the preposition or conjunction that its question requires."""
    first = answer.split()[0].lower()
    if first in PREPOSITIONS or ends_open:
        return answer
    if lead:
        return f"{lead} {_counted(asked, answer)}"
    word = asked[0].lower_
    if word == "where":
        return f"in {answer}"
    if word == "when":
        return (
            f"on {answer}" if any(c.isdigit() for c in first) and len(first) < 3 else f"in {answer}"
        )
    if word == "why":
        return f"because {answer}"
    return _counted(asked, answer)


def _join(parts: list[str]) -> str:
    text = " ".join(part for part in parts if part)
    for mark in (",", ".", ";", ":", "'s", "’s", ")", "%"):
        text = text.replace(f" {mark}", mark)
    text = text.replace("( ", "(").strip()
    return f"{text[0].upper()}{text[1:]}." if text else text
