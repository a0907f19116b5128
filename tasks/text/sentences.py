"""Find sentences by rules that are fast enough for bulk splitting, in any language.

The rules know English abbreviations, initials, decimals and quotes, and Chinese punctuation. A line
break inside a paragraph counts as a space unless the lines are separate items.
"""

import re
from itertools import pairwise

from tasks.text.languages import HAN_OR_KANA_CLASS, word_set

_QUOTES = "\"'”’»)\\]】）》』」〉"
REFERENCES = r"(?:\[(?:\d{1,3}|[a-z]|note \d{1,2})\])"
"""A pattern: the number of a reference or note, as texts from Wikipedia have after a sentence."""
# A run of marks with what closes after it: quotes, emphasis before a space, and references;
# possessive, so that hostile runs stay linear.
_CLOSING = rf"(?:[{_QUOTES}]|[*_`]++(?=[\s{_QUOTES}]|\Z))*+"
_END = re.compile(rf"(?P<marks>(?P<ends>[.!?…。！？；｡]++){_CLOSING}){REFERENCES}*+")
_HARD = frozenset("。！？；｡")
_BREAK = re.compile(r"\n[ \t]*\n|  \n|\n(?=[ \t]*(?:[-*+•·][ \t]|\d{1,3}[.)][ \t]|\||#|>|\*\*))")
_LINE = re.compile(r"\n")
_ITEM_MARK = re.compile(r"[ \t]*(?:[-*+•·]|\d{1,3}[.)])[ \t]")
_NUMBERED = re.compile(r"\s*\d{1,3}\.[ \t]")
_INDENTED = re.compile(r"[ \t]*")
_FIRST = re.compile(r"[\[(`*_\"'“‘]*+(.)")  # of a line, after marks
_BEFORE = re.compile(r"[\w.&'’-]{1,24}\Z")
_NEXT = re.compile(r"[\s\"'“‘«(\[【（《『「〈*_]*")
_HEADING = 4  # words; fewer in bold, or a question, head the sentence after them
_GO_ON = frozenset(",;:)")  # after a mark, these continue its sentence
_WRAPPED = 50  # columns; a shorter line was hardly broken to fit a page
_WIDE = re.compile(f"[{HAN_OR_KANA_CLASS}]")
_LINE_ENDED = re.compile(rf"[。！？!?：:；;…\\]{_CLOSING}[ \t]*\Z")


UNKNOWN_DATE = r"(?:(?<=[（(])|(?<=[\d年月日][-–—－~～至])|(?<=[\d年月日]——))[?？]"
"""A pattern: a question mark that ends no sentence: "（1901年—？）", "（？—1950年）"."""
_UNKNOWN_DATE = re.compile(UNKNOWN_DATE)
SHORTENED = word_set("geo wm chas jas thos jos benj robt edw saml ft mt")
"""Shortened first words of names, which a dot doesn't part from the next: "Geo. Fenwick"."""

# Never the end of a sentence.
_ABBREVIATIONS = SHORTENED | word_set(
    "mr mrs ms dr drs prof st sr sra mme mlle m gen col lt sgt capt cmdr adm maj rev hon gov sen "
    "rep pres messrs mt ft fig figs eq eqs no nos vol vols pp p ch sec ed eds trans cf ca c "
    "approx vs v viz e.g i.e eg ie al jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed "
    "thu fri sat sun est dept univ assn bros b d r fl nr bzw z.b d.h u.a str ggf evtl inkl usw "
    "inv fol fols acc op cit op.cit ibid ext lat long km mi sq min max avg incl excl"
)
# These are also words, so they may end a sentence.
_ALSO_WORDS = word_set("no p min max long sun sat mar c b d r")
# Also words, but not the end of a sentence before a number: "art. 14", "cat. no. 7".
_BEFORE_NUMBER = word_set("art cat pl pt ref reg")
_NUMBER = re.compile(r"\d|[IVXLC]{2,}\b|[VX]\b|(?:No|Nr)s?\.")
# "3. Mai" and "12. 5." are dates.
_NOT_AFTER_ORDINAL = re.compile(
    r"\d|(Jan|Febr)uar|März|April|Mai\b|Juni|Juli|August|(Septem|Novem|Dezem)ber|Oktober"
)
# The end of a sentence only if what follows looks like the start of another.
_MAYBE = word_set(
    "inc ltd co corp llc plc jr etc u.s u.s.a u.k u.n e.u d.c a.m p.m am pm b.c a.d b.c.e c.e "
    "ph.d m.d b.a m.a u.s.s.r n.y l.a ave blvd rd usa"
)
# These end a sentence before a capital, unless it goes on with a name: "Acme Corp. Chairman Lee".
_LEGAL_FORMS = word_set("inc ltd corp llc plc")
_AFTER_FORMS = _LEGAL_FORMS | word_set(
    "chairman chairwoman president chief ceo vice director spokesman spokeswoman"
)
_LOWER_WORD = re.compile(r"\b[a-z]{2}")
_STARTERS = word_set(
    "the a an it its he she they we i you this that these those there here his her their our my "
    "in on at by for from with to as if when while after before since although though because "
    "during under over between among through however but and so yet or nor not no all both each "
    "many most some several such one two three what who where why how which then now today also "
    "another other only even according despite unlike instead thus meanwhile moreover"
)
# A Chinese paragraph of several lines, its lines that are lists or labels, and its line breaks
# within sentences.
PARAGRAPH = re.compile(r"(?:[^\n]+\n)+[^\n]+[。！？!?][”’」』）)]*(?=\s*$|\s*\n\s*\n)")
_ITEM = r"[-*•#|>]|\d+[、．.)]|[（(第一二三四五六七八九十]+[、条章节款）)]|[^\n]{0,12}[:：]"
APART = re.compile(rf"^(?:\s|{_ITEM})", re.M)
_NEXT_ITEM = re.compile(rf"[ \t]*(?:{_ITEM}|\n|\Z)")
BREAK = re.compile(r"(?<![。！？!?：:；;\s])\n")
_UNSPACED = re.compile(rf"[{HAN_OR_KANA_CLASS}\u3000-\u303f\uff00-\uffef]")


def sentences(text: str, language: str = "und") -> list[tuple[int, int]]:
    """Return the spans of the text's sentences, in order, without the white space around them."""
    spans: list[tuple[int, int]] = []
    period_joins = "。" in text  # the parts of a foreign name: 安娜.贝尔
    for start, end in _paragraphs(text, language):
        begin = start
        number = _NUMBERED.match(text, start, end)  # of an item, which ends no sentence
        for marks in _END.finditer(text, number.end() if number else start, end):
            if marks.end() < end and _is_end(text, marks, begin, end, period_joins):
                _keep(text, begin, marks.end(), spans)
                begin = marks.end()
        _keep(text, begin, end, spans)
    return spans


def _keep(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    stripped = text[start:end].lstrip()
    if stripped:
        start = end - len(stripped)
        spans.append((start, start + len(stripped.rstrip())))


def _paragraphs(text: str, language: str) -> list[tuple[int, int]]:
    """Return the spans whose boundaries no sentence crosses: paragraphs, items, short lines."""
    cuts = {0, len(text)} | {match.start() for match in _BREAK.finditer(text)}
    previous, item = 0, len(text)  # columns before the mark of the item that is open
    for match in _LINE.finditer(text):
        place = match.start()
        line = text[previous:place]
        if _ITEM_MARK.match(line):
            item = _indentation(text, previous)
        elif not line.strip():
            item = len(text)
        first = _FIRST.match(text, place + 1)
        lower = first is not None and first[1].islower()
        deeper = _indentation(text, place + 1) > item
        short = place - previous < _WRAPPED and not (lower or deeper)
        chinese = language == "zh" or _WIDE.match(line[-1:])
        if not _goes_on(line, text, place + 1) if chinese else short:
            cuts.add(place)
        previous = place + 1
    return list(pairwise(sorted(cuts)))


def _indentation(text: str, start: int) -> int:
    return len(_INDENTED.match(text, start)[0])  # type: ignore[index]


def _goes_on(line: str, text: str, following: int) -> bool:
    """Return whether a Chinese line was broken within a sentence to fit a page."""
    columns = len(line) + len(_WIDE.findall(line))
    ended = columns < _WRAPPED or _LINE_ENDED.search(line)
    return not ended and not _NEXT_ITEM.match(text, following)


def _is_end(text: str, match: re.Match[str], begin: int, end: int, period_joins: bool) -> bool:
    marks = match["marks"]
    if _UNKNOWN_DATE.match(text, match.start()):
        return False
    if not _HARD.isdisjoint(marks):
        return True
    words = text[max(begin, match.start() - 40) : match.start()].split()
    if marks[-1] in "*_" and (marks[0] == "?" or len(words) < _HEADING):
        return False
    after = text[match.end() : match.end() + 1]
    if not after.isspace() and not _WIDE.match(after):
        return False
    if (
        period_joins
        and _WIDE.match(after)
        and marks == "."
        and _WIDE.match(text, match.start() - 1)
    ):
        return False
    place = _NEXT.match(text, match.end(), min(end, match.end() + 40)).end()  # type: ignore[union-attr]
    following = text[place : place + 24]
    if following[:1].islower() or following[:1] in _GO_ON:
        return False
    if match["ends"] != ".":
        return True
    before = text[max(begin, match.start() - 24) : match.start()]
    return _ends_at_period(before, following, aside="(" in text[match.end() : place])


def _ends_at_period(before: str, following: str, *, aside: bool) -> bool:
    match = _BEFORE.search(before)
    if not match:
        return True
    word = match.group().lower().strip("'’-")
    if word in _ABBREVIATIONS:
        return word in _ALSO_WORDS and _starts_sentence(following)
    if word in _BEFORE_NUMBER:
        return not _NUMBER.match(following)
    if (word in _LEGAL_FORMS or before.endswith("& Co")) and not _opens(following, _AFTER_FORMS):
        in_prose = following[:1].isupper() and bool(_LOWER_WORD.search(before))
        return _starts_sentence(following) or (in_prose and not aside)
    if word in _MAYBE:
        return _starts_sentence(following)
    if len(word) == 1 and word.isalpha():
        return not match.group().isupper() or _starts_sentence(following)
    if word.isdigit() and len(word) < 4 and _NOT_AFTER_ORDINAL.match(following):
        return False
    # A dotted run of single letters is an abbreviation of its own: "J.R.R. Tolkien".
    if "." in word and all(len(part) <= 1 for part in word.split(".")):
        return _starts_sentence(following)
    return True


def _starts_sentence(following: str) -> bool:
    return _opens(following, _STARTERS)


def _opens(following: str, words: frozenset[str]) -> bool:
    word = re.match(r"[^\W\d_]+", following)
    return bool(word) and word.group().lower() in words  # type: ignore[union-attr]


def without_breaks(text: str) -> str:
    """Return a Chinese text with a space for each line break within a sentence."""
    return PARAGRAPH.sub(lambda p: p[0] if APART.search(p[0]) else BREAK.sub(" ", p[0]), text)


def on_one_line(text: str) -> str:
    """Return a text with a space for each line break, and with nothing between Chinese words."""
    joined = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        chinese = _UNSPACED.match(joined[-1:]) and _UNSPACED.match(line)
        joined += line if chinese or not joined else f" {line}"
    return joined
