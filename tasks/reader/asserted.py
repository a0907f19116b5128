"""Whether a sentence asserts an answer: none comes from what is denied, supposed or planned.

Nor does what may be tell what was, what lasted until some year what is, or a deputy who is mayor.
"""

import re
from itertools import pairwise

from tasks.text.chinese_words import segmenter, simplified, tag_of
from tasks.text.english_words import is_past_form, is_word
from tasks.text.function_words import AUXILIARIES, FUNCTION_WORDS, any_of
from tasks.text.languages import HAN, is_chinese, word_set
from tasks.text.question import Question
from tasks.text.relations.forms import FORMER, RANKS
from tasks.text.standing import Doubt, doubts, segments
from tasks.text.stems import stem, words_of

# Such questions ask about rules and reasons; "you can, if …" answers them,
_OPEN = re.compile(
    r"\b(?:can|could|may|might|must|shall|should|would|if|unless|i|we|you|my|our|your|why|happens?)\b"
    r"|\bhow (?!many|much|old|tall|high|deep|long|far|large|big|heavy)"
    r"|可以|能(?!源|力|量)|应[该当]|如果|为什么|怎|如何|[我你您]",
    re.I,
)
# and "you cannot" those for reasons and ways.
_REASON = re.compile(r"\b(?:why|happens?|how (?:to|do|does|did|can|should))\b|为什么|怎|如何", re.I)
_EXCEPTION = re.compile(
    rf"\b(?:except(?:ing|ion of)?|other than)\b(?:(?!\b(?:{any_of(AUXILIARIES)})\b)[^,;:.])*"
    r"|(?<![解排扣免清消开删])除(?!非|了?以)[^，。；]+?外(?!.*[还也又])|[^，。；（]{1,20}除外",
    re.I,
)
_ARTICLE = r"(第[零〇一二三四五六七八九十百千\d]+条|(?:Article|Section|Rule|Clause|§) ?[\w.-]*\w)"
_OF_ARTICLE = re.compile(rf"\A\W*{_ARTICLE}")  # rather than one that cites it
_ASKED_ARTICLE = re.compile(
    rf"(?:(?<=does )|(?=第[^条]+条的?(?:规定|内容|主要|说|写)\S{{0,4}}什么)){_ARTICLE}"
)
_NOT = re.compile(r"(?:\b(?:not?|nor|never|cannot)\b|n['’]t\b|[不未无])[^,;，]*\Z", re.I)
_BOUND = re.compile(
    r"\b(?:(?:more|less|\w+er) than|over|under|above|below|exceed\w*|before|after|until) "
    r"|超过|[多少高低晚早大小]于"
)
_AHEAD = re.compile(r"\b(?:will|shall|going to)\b|[将会]")
_BUT = re.compile(r"\W*(?:but\b|rather\b|而是)")
# "Who was killed?", but not "Who was killed by?", asks whom somebody did it to.
_UNDERGONE = re.compile(r"\bwho (?:was|were|is|are|\w+ been) (?:\w+ly )?(\w+)(?!.* by\W*\Z)", re.I)
_DOER = re.compile(r"\bby (?:[\w’'-]+,? ){0,3}\Z")
_PAST = re.compile(r"\b(?:was|were|did|had)\b")
_PRESENT = re.compile(r"\b(?:is|are|do|does|has|have|be|been)\b")
_YEAR = re.compile(r"\b\d{4}\b")
_WORD = re.compile(r"\b[a-z]+\b")
_POSSIBLE = re.compile(r"\b(?:(?:may|might|shall)\b(?! have\b)|will be\b)")
_UNTIL = re.compile(
    r"\b(?:(?:until|till)|(?:from|between) (?:\w+ ){0,2}?\d{4} (?:to|and)) (?:\w+ ){0,2}?\d{4}\b"
)
_WAS = re.compile(r"\b(?:was|were|been|served|until|previous\w*|once)\b|[曾原年]|[卸离历]任|第.任")
_MARKED = re.compile(  # with the words up to a function word, of which one is the noun
    rf"\b({any_of(RANKS | FORMER)})\b(?=((?:[ -](?!(?:{any_of(FUNCTION_WORDS)}|的)\b)\w+){{1,3}}))",
    re.I,
)
_THEN = FORMER | word_set(  # marks of another time than now
    "first original originally previous previously earlier "
    "曾 曾经 原 原来 以前 之前 此前 从前 当时 当年 去年 上次 首任 首位 第一 最初 起初 了 过"
)
_COMPARED = re.compile(r"\bthan\b|比")


class Asserted:
    """What a question accepts from sentences that do not assert all that they say."""

    def __init__(self, question: Question) -> None:
        """Find the doubts that the question itself has, and what it asks of."""
        self._cut = question.is_chinese
        text = simplified(question.text.rstrip("?？ "))
        self._words = words_of(text, cut_chinese=self._cut)
        self._content = self._words if self._cut else words_of(question.content_words)
        self._names = words_of(" ".join(re.findall(r"\b[A-Z][\w'’-]*", text)))
        self._tense = "" if self._cut else _tense(text)
        words, marked = _words_and_marked(text)
        self._offices = [row for row in marked if not any(map(_is_name, row[1][1:]))]
        is_now = self._tense == "present" or (self._cut and not _WAS.search(text))
        self._barred = RANKS | FORMER if is_now else RANKS
        held = {word for _, run in marked for word in run}
        self._bare = {stem(a) for a, b in pairwise([*words, ""]) if not (a in held or _is_name(b))}
        form = question.expected_answer.form
        self._takes_all = form == "yes" or bool(_REASON.search(text))
        self._is_of_rules, self._is_measure = bool(_OPEN.search(text)), form in ("number", "date")
        self._article = _ASKED_ARTICLE.findall(text)
        self._accepted = {doubt.kind for doubt in doubts(text)}
        self._undergone = words_of(" ".join(filter(is_past_form, _UNDERGONE.findall(text.lower()))))
        if _AHEAD.search(text):
            self._accepted.add("planned")
        if form != "number" or _COMPARED.search(text):
            self._accepted.add("compared")

    def holds(self, sentence: str, start: int) -> bool:
        """Return whether a sentence asserts the answer that starts at a character.

        The clause that holds the answer counts, and the one with most words of the question.
        """
        if self._article and _OF_ARTICLE.findall(sentence) not in ([], self._article):
            return False
        if self._takes_all:
            return True
        if self._is_measure and _BOUND.match(sentence, start) and _NOT.search(sentence[:start]):
            return False  # "more than two" of "not more than two"
        for one in _EXCEPTION.finditer(simplified(sentence)):
            if one.start() <= start < one.end():
                return self._excludes(sentence[: one.start()] + sentence[one.end() :])
        other = self._is_of_another_time(sentence, start) or self._is_doer(sentence, start)
        if other and not self._is_of_rules:
            return False
        kinds = {"denied"} if self._is_of_rules else {doubt.kind for doubt in doubts(sentence)}
        found = [one for one in doubts(sentence) if one.kind in kinds - self._accepted]
        places = (start, self._asked_at(sentence)) if found else (start, start)
        return not any(self._denies(doubt, sentence, places) for doubt in found)

    def keeps_offices(self, text: str) -> bool:
        """Return whether a text has the nouns that the question marks, and marks no others.

        In the other language than the question's none can be compared.
        """
        if is_chinese(text) != self._cut:
            return True
        words, marked = _words_and_marked(text)
        for mark, run in self._offices:
            same = FORMER if mark in FORMER else {mark}
            named = (word for other, others in marked if other in same for word in others)
            was = mark in FORMER and _WAS.search(text)
            if not was and {*map(stem, run)}.isdisjoint(map(stem, named)):
                return False
        stems = [*map(stem, words)]
        firsts = [stem(run[0]) for mark, run in marked if mark in self._barred]
        return not any(stems.count(one) == firsts.count(one) for one in self._bare & {*firsts})

    def _is_of_another_time(self, sentence: str, start: int) -> bool:
        if self._tense == "past":
            inside = (span for span in segments(sentence) if span[0] <= start < span[1])
            return any(_POSSIBLE.search(sentence[slice(*span)]) for span in inside)
        ends = (until.start() for until in _UNTIL.finditer(sentence) if self._tense == "present")
        clauses = ((sentence.rfind(";", 0, end) + 1, end) for end in ends)
        return any(a <= start < b and _tense(sentence[a:b]) == "past" for a, b in clauses)

    def _denies(self, doubt: Doubt, sentence: str, places: tuple[int, int]) -> bool:
        bounds = (bound.end() for bound in _BOUND.finditer(sentence, doubt.start))
        if self._is_measure and places[0] in bounds:
            return False  # it bounds what is allowed
        if doubt.kind == "contrasted":
            part = sentence[doubt.start : doubt.end]
            return bool(words_of(part, cut_chinese=self._cut) & self._words)
        first, last = doubt.condition
        condition = words_of(sentence[first:last], cut_chinese=self._cut)
        around = words_of(sentence[:first] + sentence[last:], cut_chinese=self._cut)
        if self._words & condition - around and not first <= places[0] < last:
            return False
        if places[0] >= doubt.end and _BUT.match(sentence, doubt.end):
            return False  # not by Anna but by Otto
        return any(doubt.start <= place < doubt.end for place in places)

    def _excludes(self, main: str) -> bool:
        """Return whether the question asks for what a clause without its exceptions excludes."""
        denies = "denied" in {doubt.kind for doubt in doubts(main)}
        shared = self._content & words_of(main, cut_chinese=self._cut)
        return denies != ("denied" in self._accepted) or 2 * len(shared) <= len(self._content)

    def _is_doer(self, sentence: str, start: int) -> bool:
        """Return whether an answer is by whom was done what the question asks to whom it was."""
        doer = _DOER.search(sentence[: start + 3 * sentence.startswith("by ", start)])
        return bool(doer and self._undergone & words_of(sentence[: doer.start()]))

    def _asked_at(self, sentence: str) -> int:
        """Return the start of the segment with most words of the question, names aside."""

        def shared(span: tuple[int, int]) -> int:
            words = words_of(sentence[slice(*span)], cut_chinese=self._cut)
            return len(words & self._words - self._names)

        best = max(segments(sentence), key=shared)
        return best[0] if shared(best) else -1


def asks_of_now(question: Question) -> bool:
    """Return whether a question asks what is, not what was, and names no time."""
    text = simplified(question.text.rstrip("?？ ")).lower()
    words = {*segmenter().cut(text)} if question.is_chinese else {*_WORD.findall(text)}
    is_past = words & _THEN or _PAST.search(text) or text.endswith("的")
    if is_past or any(value.is_date for *_, value in question.values):
        return False
    past = [word.start() for word in _WORD.finditer(text) if is_past_form(word[0])]
    return not past or any(word.start() < past[0] for word in _PRESENT.finditer(text))


def _words_and_marked(text: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the words of a text, and each mark of an office with up to three words after it."""
    if is_chinese(text):
        text = re.sub(r"\b(常务)?副 ?(?=\w\w)", "副 ", " ".join(segmenter().cut(simplified(text))))
    marked = [(mark.lower(), re.findall(r"\w+", run)) for mark, run in _MARKED.findall(text)]
    return re.findall(r"\w+", text), marked


def _is_name(word: str) -> bool:
    if HAN.match(word):
        return tag_of(word).startswith("nr")
    return word[:1].isupper() and not is_word(word.lower())


def _tense(words: str) -> str:
    """Return past or present; an empty text if the words do not tell, or are about a year."""
    has_past = any(is_past_form(word) for word in _WORD.findall(words))
    if _PAST.search(words) or (has_past and not _PRESENT.search(words)):
        return "past"
    return "" if has_past or _YEAR.search(words) else "present"
