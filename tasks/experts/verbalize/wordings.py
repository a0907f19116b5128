"""Questions in looser wordings than a graph's own, as from people who do not know its terms.

An expert that has read one question per fact can answer only that question. From many questions
with varying words it learns to rely on the constant parts: the name, the kind of answer, and any
words of the relation.
"""

import random
import re
from collections.abc import Sequence

from tasks.experts.verbalize.phrasing import AnswerKind, relation_words
from tasks.text.chinese_words import segmenter
from tasks.text.function_words import FUNCTION_WORDS

_OWNER = re.compile(r"(.+)'s (.+)")
# Where nothing tells what the answers are, any interrogative may come.
_ASKED: dict[tuple[str, AnswerKind], tuple[str, ...]] = {
    ("en", "person"): ("who", "who", "who", "which person", "what is the name of the person who"),
    ("en", "place"): ("where", "where", "in which place", "what", "which"),
    ("en", "time"): ("when", "when", "what year", "on what date", "what"),
    ("en", "number"): ("how many", "how much", "what", "what number"),
    ("en", "thing"): ("what", "what", "which", "in which", "who", "when", "where"),
    ("zh", "person"): ("谁", "是谁", "是哪位", "哪个人", "是什么人"),
    ("zh", "place"): ("哪里", "在哪里", "在哪", "是什么地方", "哪个", "什么"),
    ("zh", "time"): ("什么时候", "是什么时候", "何时", "哪一年", "是哪天", "是什么"),
    ("zh", "number"): ("多少", "是多少", "有多少", "几", "是什么"),
    ("zh", "thing"): ("是什么", "什么", "哪个", "有哪些", "是谁", "是多少", "哪里", "什么时候"),
}
_POLITE = ("", "", "请问", "你知道", "我想知道")
_KEPT = (0.3, 0.6, 1.0)  # share of the relation's words in the question
_STRANGE = (0, 0, 1, 2, 3, 4)  # numbers of unrelated words
_ASKS, _MARKED = 0.85, 0.8  # probability of an interrogative, and of a question mark


def loose_question(
    relation: str,
    name: str,
    *,
    kind: AnswerKind,
    vocabulary: Sequence[str],
    rng: random.Random,
    language: str = "en",
    is_told_by_kind: bool = False,
) -> str:
    """Return an English or Chinese question with a name and some of the words of a relation.

    The interrogative says what `kind` of answer is wanted. That may be all it says of the relation
    if `is_told_by_kind`. Random words of `vocabulary` are inserted, in place of words that an
    expert has never read.
    """
    words = relation_words(relation).split()
    if language == "zh":
        words = [part for word in words for part in segmenter().cut(word)]
    kept = rng.choice(_KEPT)
    spoken = [word for word in words if rng.random() < kept]
    telling = [word for word in words if word not in FUNCTION_WORDS] or words
    if not is_told_by_kind and not any(word in telling for word in spoken):
        spoken.append(rng.choice(telling))
    for _ in range(rng.choice(_STRANGE) if vocabulary else 0):
        spoken.insert(rng.randint(0, len(spoken)), rng.choice(vocabulary))
    place = rng.choice((0, len(spoken), rng.randint(0, len(spoken))))
    question = [*spoken[:place], name, *spoken[place:]]
    if language == "zh":
        return _chinese(question, kind=kind, rng=rng)
    if rng.random() < _ASKS:
        interrogative = rng.choice(_ASKED["en", kind])
        question.insert(0, interrogative[0].upper() + interrogative[1:])
    return " ".join(question) + ("?" if rng.random() < _MARKED else "")


def _chinese(words: list[str], *, kind: AnswerKind, rng: random.Random) -> str:
    """Return a question of these words in order, mostly with the interrogative last."""
    interrogative = rng.choice(_ASKED["zh", kind]) if rng.random() < _ASKS else ""
    place = rng.choice((len(words), len(words), rng.randint(0, len(words))))
    parts = [rng.choice(_POLITE), *words[:place], interrogative, *words[place:]]
    question = parts[0]
    for part in filter(None, parts[1:]):  # "born in" keeps its space
        is_latin = (question[-1:] + part[0]).isascii() and question[-1:].isalnum()
        question += f" {part}" if is_latin and part[0].isalnum() else part
    return question + ("？" if rng.random() < _MARKED else "")


def name_forms(name: str) -> list[str]:
    """Return the forms of a name: "Bavaria's 2nd district" is the "2nd district of Bavaria"."""
    owned = _OWNER.fullmatch(name)
    return [name, f"{owned[2]} of {owned[1]}", f"the {owned[2]} of {owned[1]}"] if owned else [name]
