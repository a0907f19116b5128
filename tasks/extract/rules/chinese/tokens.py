"""Split a passage into sentences of tagged tokens with their offsets.

Words that the segmenter's dictionary cannot know are marked first: works in 《》, dates,
quantities, Latin names, transliterated names with their middle dots, and the document's own name.
Only the text between them is segmented.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tasks.extract.rules.chinese.lexicon import (
    APPOINTING,
    MEASURES,
    MODALITY_OF_WORD,
    NEGATIONS,
    NOT_GIVEN,
    PARTICLES,
    PERSON_ENDINGS,
    RELATIVE_YEARS,
    SURNAMES,
    TAGS,
    TRANSLITERATION,
)
from tasks.extract.rules.chinese.predicates import clauses, leads, may_lead
from tasks.text.chinese_words import HAN_OR_ZERO, segmenter, tag_of, word_spans_of
from tasks.text.languages import HAN_CLASS, word_set
from tasks.text.sentences import UNKNOWN_DATE
from tasks.text.values import Value, find_values, parse_value

# Longer sentences are lists or tables in disguise; they are cut here.
LONGEST_SENTENCE = 400

SENTENCE = re.compile(
    rf"(?:[^。！？!?\n]|{UNKNOWN_DATE}){{1,{LONGEST_SENTENCE}}}[。！？!?]*[”’」』）)]*"
)
NUMBERING = re.compile(
    r"\s*(?:(?:第[零一二三四五六七八九十百\d]+[条章节款]|[（(][一二三四五六七八九十\d]+[）)]"
    r"|\d{1,2}[、．.](?=[^\d])|[一二三四五六七八九十廿卅]+、|[-*•])[ \t\u3000]*)?"
)
WORK = re.compile("《[^《》\n]{1,60}》")
CASE = re.compile(f"[（(〔][12][0-9]{{3}}[）)〕][0-9{HAN_CLASS}]{{1,16}}?[0-9]+(?:-[0-9]+)?号")
QUOTED = re.compile("[“「『]([^“”「」『』\n，。；]{1,24})[”」』]")
LATIN = re.compile(
    r"https?://[^\s<>（）()，。；：、「」]+"
    r"|(?<![A-Za-z0-9_./:])(?:~|\.{1,2})?/[A-Za-z0-9_.~-]+(?:/[A-Za-z0-9_.~-]+)+/?"  # /etc/hosts
    r"|[A-Za-z][A-Za-z0-9_.'’&-]*(?:(?:\s|\s?/\s?)[A-Za-z0-9][A-Za-z0-9.'’&-]*)*(?<!-)"
    r"(?:\+\+|[+#](?![A-Za-z0-9+#]))?"  # C++, but Ctrl and C in Ctrl+C
)
NUMBERED = re.compile(rf"(?<![A-Za-z0-9_.-])[0-9]{{1,3}}(?=[A-Z])(?:{LATIN.pattern})")  # 3Com


@dataclass(slots=True)
class Token:
    """A word; its `tag` is the segmenter's, or work, quote, latin, name, time or number."""

    text: str
    tag: str
    start: int
    end: int
    value: Value | None = None
    leads: float = 0.0  # how likely it is the predicate of its clause

    @property
    def nominal(self) -> bool:
        """Whether it can be part of a noun phrase."""
        return self.tag[0] in "njlis" or self.tag in NOMINAL_TAGS


def text_of(tokens: Iterable[Token]) -> str:
    """Return the text of tokens without anything between them."""
    return "".join(token.text for token in tokens)


# Dates whose year is that of another date.
PARTIAL_DATE = re.compile(
    f"(?:{'|'.join(RELATIVE_YEARS)})(?: ?[0-9]{{1,2}} ?月(?: ?[0-9]{{1,2}} ?日)?)?"
    "|每月 ?[0-9]{1,2} ?[日号]|(?:每年 ?|(?<![0-9年]))[0-9]{1,2} ?月"
    "(?: ?[0-9]{1,2} ?[日号]|[底初末份]|[上中下]旬|(?! ?[0-9]))"
)

# 14时30分, 下午2时, 14:00, and the part of a day that a date ends with (8月25日晚); but not 为3时.
PART_OF_DAY = "(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上?|夜间)"
CLOCK = re.compile(
    f"(?:{PART_OF_DAY} ?)?(?<![0-9.:：第])(?:[0-9]{{1,2}}[:：][0-9]{{2}}(?![0-9])"
    "|[0-9]{1,2} ?[时点] ?(?:[0-9]{1,2} ?分|半|整))"
    f"|{PART_OF_DAY} ?[0-9]{{1,2}} ?[时点]|(?<=[日号])[早晚](?!间)"
)

# 旧名, but not 原名单.
NAMED_SO = re.compile("(?:[原旧本别古曾又亦][名称]|曾用名)(?![单字册额声义牌次词赞呼为作])")
APPROVING = word_set("批准 备案 审批 审核 核准 审查 审定 审议 同意 决定")
LONGEST_PERSON = 5  # tokens of the name of an appointed person
AFTER_MODAL = 0.2  # how much likelier a word is the predicate after 可以, 不 and similar words
THINGS = frozenset("器机版图表库率性度型物者")  # final characters of nouns
ACTS = frozenset("任有及赴著嫁")  # 周砚|任, 周砚|及, each of which the segmenter takes for a person
OPENERS = PARTICLES - {"和", "于"} | frozenset("他她它赴从向以对该但而据")

PERSON_TAGS = word_set("nr nrt nrfg")
NAME_TAGS = PERSON_TAGS | {"ns", "nt", "nz"}
PROPER_TAGS = NAME_TAGS | {"j"}  # of short forms, such as 北大, too
NOMINAL_TAGS = word_set("vn an b g eng work quote latin name number m q f mg zg rz t a nz nt ns nr")


@dataclass(slots=True)
class SegmentedSentence:
    """The tokens of one sentence and its span in the passage."""

    start: int
    end: int
    tokens: list[Token]


def read_sentences(text: str, names: Iterable[str]) -> list[SegmentedSentence]:
    """Split a passage into sentences of tokens; each of the `names` is kept as one token."""
    marked = _mark(text, names)
    sentences = []
    for match in SENTENCE.finditer(text):
        number = NUMBERING.match(match[0])
        start = match.start() + (number.end() if number else 0)
        tokens = list(_tokens(text, start, match.end(), marked))
        _weigh(tokens)
        if tokens:
            sentences.append(SegmentedSentence(tokens[0].start, tokens[-1].end, tokens))
    return sentences


def _weigh(tokens: list[Token]) -> None:
    """Set how likely each word is the predicate of its clause."""
    for start, end in clauses(tokens):
        for position in range(start, end):
            token = tokens[position]
            if may_lead(token):
                before = tokens[position - 1].text if position > start else ""
                modal = before in MODALITY_OF_WORD or before in NEGATIONS
                token.leads = leads(tokens, position, start, end) + modal * AFTER_MODAL


def _mark(text: str, names: Iterable[str]) -> list[Token]:
    """Return the tokens that are not left to the segmenter, in order and without overlaps."""
    candidates = [
        *_matches("work", WORK, text),
        *_matches("n", CASE, text),
        *_matches("time", CLOCK, text),
        *(Token(text[start:end], "time", start, end) for start, end in find_times(text)),
        *(
            Token(text[start:end], "time" if value.is_date else "number", start, end, value)
            for start, end, value in find_values(text, "zh")
        ),
        *_matches("time", PARTIAL_DATE, text),
        *_matches("quote", QUOTED, text),
        *(t for n in filter(None, names) for t in _matches("name", re.compile(re.escape(n)), text)),
        *(Token(text[start:end], "name", start, end) for start, end in find_foreign_names(text)),
        *_matches("latin", NUMBERED, text),
        *_matches("latin", LATIN, text),
        *_matches("n", NAMED_SO, text),
    ]
    marked: list[Token] = []
    taken = bytearray(len(text))
    for token in candidates:
        if not any(taken[token.start : token.end]):
            taken[token.start : token.end] = b"\1" * (token.end - token.start)
            marked.append(token)
    marked.sort(key=lambda token: token.start)
    _date_partially(marked)
    return marked


def _matches(tag: str, pattern: re.Pattern[str], text: str) -> Iterator[Token]:
    return (Token(match[0], tag, *match.span()) for match in pattern.finditer(text))


def _date_partially(marked: list[Token]) -> None:
    """Give 12月17日 and 次年 the year of the date before them."""
    year = 0
    for token in marked:
        if token.tag != "time":
            continue
        if token.value is None:
            token.value = _in_year(token.text, year) if year else None
        if token.value is not None and token.value.is_point and token.value.date:
            year = int(token.value.date[:4]) if token.value.date[0] != "-" else 0


def _in_year(text: str, year: int) -> Value | None:
    relative = next((word for word in RELATIVE_YEARS if text.startswith(word)), "")
    year += RELATIVE_YEARS.get(relative, 0)
    value = parse_value(f"{year}年{text.removeprefix(relative)}", "zh")
    return value if value.is_date else None


def _tokens(text: str, start: int, end: int, marked: list[Token]) -> Iterator[Token]:
    position = start
    for token in marked:
        if token.end <= start or token.start >= end or token.start < position:
            continue
        yield from _segment(text, position, token.start)
        yield token
        position = token.end
    yield from _segment(text, position, end)


def _segment(text: str, start: int, end: int) -> list[Token]:
    tokens: list[Token] = []
    position = start
    for whole in segmenter().cut(text[start:end]):
        known = whole[0] != "赴" and segmenter().has_word(whole)
        for word in [whole] if known else _split(whole):
            stop = position + len(word)
            tag = TAGS.get(word) or tag_of(word) or _guess(word)
            if tag == "v" and len(word) > 2 and word[-1] in THINGS:
                tag = "n"  # the dictionary has 渲染器 as a verb
            tokens.append(Token(word, tag, position, stop))
            position = stop
    return list(_acting(_mended([token for token in tokens if not token.text.isspace()])))


def _acting(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens, with 封 of 封李安国为校长 and 报 of 报财政部批准 as verbs.

    The dictionary has a unit and a noun.
    """
    for position, token in enumerate(tokens):
        verb = token.text.removeprefix("又")
        phrase = [t.text for t in tokens[position + 1 : position + 2 + LONGEST_PERSON]]
        after = next((text for text in phrase if text in "为作，；"), "")
        person = tokens[position + 1 : position + 2]
        named = bool(person) and person[0].tag in ("nr", "nrt", "nrfg", "name")
        if verb in APPOINTING and (named or after in ("为", "作")):
            yield Token(verb, "v", token.end - len(verb), token.end)
        elif token.text == "报" and not APPROVING.isdisjoint(phrase):
            yield Token("报", "v", token.start, token.end)
        else:
            yield token


def _split(word: str) -> list[str]:
    """Split particles from a word that the dictionary lacks: 全长|约, 了|用, 青|是, 只|会."""
    if word.endswith("约") and word[:-1] in MEASURES:
        return [word[:-1], "约"]
    modal = word[1:] in MODALITY_OF_WORD and word not in MODALITY_OF_WORD
    if modal and tag_of(word[0]) in ("d", "c"):
        return [word[0], word[1:]]
    if len(word) > 1 and HAN_OR_ZERO.match(word):
        if word[0] in OPENERS:
            return [word[0], *_split(word[1:])]
        acts = word[-1] in ACTS and word[0] in SURNAMES and len(word) > 2
        if word[-1] in PARTICLES or acts:
            return [*_split(word[:-1]), word[-1]]
    return [word]


def _guess(word: str) -> str:
    """Return the likely tag of a word that the dictionary lacks, by its characters and length."""
    if not HAN_OR_ZERO.match(word):
        return "eng" if word[0].isalpha() else "m" if word[0].isdigit() else "x"
    if len(word) == 1:
        return "zg"
    if word[0] in SURNAMES and len(word) <= 3:
        return "nr"
    return "nrt" if all(character in TRANSLITERATION for character in word) else "n"


def _mended(tokens: list[Token]) -> list[Token]:
    """Correct wrong splits of the segmenter: 出|生于, 药学|家, 同学|们, surname and given name."""
    mended: list[Token] = []
    for token in tokens:
        last = mended[-1] if mended else None
        if last is None or last.end != token.start:
            mended.append(token)
        elif token.text == "生于" and last.text.endswith("出"):
            before = Token(last.text[:-1], "r", last.start, last.end - 1)
            mended[-1:] = [before] if before.text else []
            mended.append(Token("出生于", "v", before.end, token.end))
        elif token.text == "指" and last.text in ("是", "系"):
            mended[-1] = Token("是指", "v", last.start, token.end)
        elif token.text in ("为", "作") and last.text in APPOINTING:
            mended[-1] = Token(last.text + token.text, "v", last.start, token.end)
        elif token.text == "是" and text_of(mended[-2:]) == "指的":
            mended[-2:] = [Token("指的是", "v", mended[-2].start, token.end)]
        elif (
            last.tag == "v"
            and token.text == "器"
            or token.text in ("家", "者", "人")
            and last.tag in ("n", "nz", "vn", "ns", "l")
            or (token.tag == "k" and last.tag[0] in "nvj")
            or (last.text == "非" and token.tag[0] == "n")  # 非|主线程
        ):
            mended[-1] = Token(last.text + token.text, "n", last.start, token.end)
        elif _continues_foreign(last, token):
            mended[-1] = Token(last.text + token.text, "nrt", last.start, token.end)
        elif (token.text == "某" and last.text in SURNAMES) or _continues_person(mended, token):
            mended[-1] = Token(last.text + token.text, "nr", last.start, token.end)
        else:
            mended.append(token)
    return mended


def _continues_foreign(last: Token, token: Token) -> bool:
    """Return whether a token continues a foreign name: 佩特|罗, 阿马拉|苏里亚."""
    foreign = last.tag in ("nr", "nrt", "nrfg") and last.text[0] not in SURNAMES
    foreign |= last.tag == "zg" and token.tag == "nrt"  # 乔|塔姆
    written = all(character in TRANSLITERATION for character in last.text + token.text)
    return foreign and written and token.tag in ("nr", "nrt", "nrfg", "zg", "g", "ng")


def _continues_person(before: list[Token], token: Token) -> bool:
    """Return whether a token is part of the given name after a surname."""
    last = before[-1]
    if len(last.text) + len(token.text) > 3 or not HAN_OR_ZERO.match(token.text):
        return False
    if token.text[-1] in NOT_GIVEN or (last.text == "和" and len(before) > 1):
        return False
    if last.tag == "nr" and len(last.text) == 1:
        return token.tag[0] in "nagze" or (token.tag == "v" and len(token.text) == 1)
    if last.tag in PERSON_TAGS and len(last.text) == 2 and last.text[0] in SURNAMES:
        given = token.tag in ("g", "zg", "ng", "e")
        given |= token.tag == "nr" and token.text not in SURNAMES  # 张家|玮
        rare = not tag_of(last.text) and len(token.text) == 1
        return given or (rare and token.tag in ("a", "n", "v"))
    # A surname and rare characters: 屠|呦|呦.
    is_surname = last.text in SURNAMES
    if (is_surname or last.tag == "nr") and token.tag in ("e", "g", "zg"):
        return True
    after_role = len(before) > 1 and before[-2].text.endswith(PERSON_ENDINGS)
    return after_role and is_surname and last.tag[0] not in "pcdu" and token.tag[0] in "nagze"


NUMERAL = "[一二三四五六七八九十]{1,3}"
BRANCH = "[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]"
MONTH = f"闰?(?:正|腊|{NUMERAL})月"
NAMED_DAY = f"(?:初?{NUMERAL}日|初{NUMERAL}|{BRANCH}日?)"
WITHIN_YEAR = f"(?:[春夏秋冬](?:天|(?!季))|{MONTH}{NAMED_DAY}?(?:初|末|[上中下]旬)?)"
DYNASTY = "[秦楚齐燕赵魏韩周鲁晋吴越唐宋元明清汉隋梁陈辽金]"
# Where a time expression may begin, and what may not follow it, since it makes it a duration.
BEGINS = r"(?:(?<=[\s。，；：！？“”（）、])|^)"
LASTING = "(?!以?[后内来前上下]|间|多|之|的|左右)"
REIGN = re.compile(
    f"{DYNASTY}?(?:[{HAN_CLASS}][宗祖帝])?([{HAN_CLASS}]{{2}})"
    f"(?:(元|{NUMERAL})年({WITHIN_YEAR})?|(年间|初年|末年))"
)
MOMENT = re.compile(
    f"{BEGINS}(?:"
    f"(?:(?:[这当同次]年|{NUMERAL}年)的?)?{WITHIN_YEAR}{LASTING}"
    f"|(?<![，；：！？“”（）、]){NUMERAL}年{LASTING}"
    f"|{NAMED_DAY}{LASTING}(?=[，{HAN_CLASS}])"
    "|(?:[这那]一?|[当同次翌])[年月日天](?![的空气])[春夏秋冬]?"
    ")",
    re.MULTILINE,
)
NO_REIGN = re.compile(
    "[一二三四五六七八九十零百的了过用在于至到从第这那每几数多]|民国|[期约近有满共需长任仅足整逾超刑前后余达]$"
)


def find_times(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of years of a reign, and of months and days without a year."""
    reigns = (match for match in REIGN.finditer(text) if _is_reign(text, match))
    yield from (match.span() for match in (*reigns, *MOMENT.finditer(text)))


def _is_reign(text: str, match: re.Match[str]) -> bool:
    """Return whether the name before 三年 is a reign or ruler, not something of three years."""
    name, dated = match[1], match[2] == "元" or match[4] or "月" in (match[3] or "")
    tag = TAGS.get(name) or tag_of(name)
    before = text[match.start() - 1 : match.start()]
    if NO_REIGN.search(name) or tag[:1] in {*"vdprcfmq"}:
        return False
    if tag == "n" and match[2] != "元" and before not in ("", "\n", "。"):
        return False
    opens = not before or before in "\n。，；：“（在自从到于以"
    return bool(dated) or opens or name[-1] in "宗帝王祖公"


_PART = f"[{TRANSLITERATION}]{{1,8}}(?:[-－][{TRANSLITERATION}]{{1,6}})?"
_ORDINAL = re.compile(f"{NUMERAL}世(?![纪界])")
_TRANSLITERATED = re.compile(f"{_PART}(?:[·•・‧.．]{_PART})+(?<!于)(?:{_ORDINAL.pattern})?")
_HAN_PART = f"[{HAN_CLASS}]{{1,8}}"
# Not "・", which separates the places of a journey.
_DOTTED = re.compile(f"({_HAN_PART})((?:[·•‧](?:{_HAN_PART}|[A-Z]))*)[·•‧]({_HAN_PART})")
_EVERYDAY = ("v", "u", "a", "d", "m", "p", "c")  # tags of 率, 等, 大, 都, 一, 于 and 和


def find_foreign_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the names; of two that overlap, the one to prefer comes first."""
    position = 0
    while match := _DOTTED.search(text, position):
        start = match.start(1) + _start(match[1])
        end = match.start(3) + _end(match[3])
        end = ordinal.end() if (ordinal := _ORDINAL.match(text, end)) else end
        inner = re.findall(_HAN_PART, match[2])
        position = match.start(3)
        if (
            start < match.end(1)
            and end > match.start(3)
            and all(_end(part) == len(part) for part in inner)
        ):
            yield start, end
            position = end
    for match in _TRANSLITERATED.finditer(text):
        yield match.span()


def _start(part: str) -> int:
    """Return where a name begins in the part before its first dot."""
    start = len(part) - _transliterated(part[::-1])
    for first, last in sorted(word_spans_of(part), reverse=True):
        if first < start <= last and _is_foreign(word := part[first:last]):
            start = first if tag_of(word) else first - _transliterated(part[:first][::-1])
    return start


def _end(part: str) -> int:
    """Return where a name ends in the part after its last dot."""
    end = _transliterated(part)
    for first, last in sorted(word_spans_of(part)):
        if first <= end < last and _is_foreign(word := part[first:last]):
            end = last if tag_of(word) else last + _transliterated(part[last:])
    return end - part[:end].endswith("于")


def _transliterated(part: str) -> int:
    """Return how many characters at the start of a text transliterate."""
    return len(part) - len(part.lstrip(TRANSLITERATION))


def _is_foreign(word: str) -> bool:
    """Return whether a word is a name that mostly transliterates.

    Of words that the dictionary lacks, such are 何塞 and 彭铁尔, but not 夏普写 and 加尼一比.
    """
    others = [at for at, character in enumerate(word) if character not in TRANSLITERATION]
    if tag := tag_of(word):
        return tag[0] == "n" and 2 * len(others) < len(word) + (tag != "n")
    inside = len(word) == 2 or others[0] not in (0, len(word) - 1)
    return len(others) == 1 and inside and tag_of(word[others[0]])[:1] not in _EVERYDAY
