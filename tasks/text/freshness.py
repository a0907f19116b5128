"""Detect questions about the present, which no model can answer by itself.

The rules look for English and Chinese words. A time-sensitive question without such a word ("Who is
the mayor of Bergen?") is left to the gate. A needless retrieval costs one search, but an outdated
answer is wrong, so the rules detect doubtful cases too ("the latest work of Mozart").
"""

import re
from datetime import date

from tasks.text.chinese_words import simplified

LONGEST = 8_000  # characters examined, from the end, where a long text has its question
WHOLE = 240  # characters; of a longer question only the last sentence is examined
YEARS_AHEAD = 10  # a number further in the future is seldom a year

# Words in the names of works and entities do not refer to time: "Now and Never", 《今天》.
_NAMED = re.compile(
    r'"[^"]{1,200}"|“[^”]{1,200}”|《[^》]{1,200}》|「[^」]{1,200}」|\[[^\]]{1,200}\]'
    r"|(?i:USA Today|Today Show|今日头条|今日美国|今日说法)"
)
_SENTENCE = re.compile(r"[^.?!。？！\n]{1,8000}[.?!。？！\n]*")

_TIME = "year|month|week|weekend|season|quarter|decade|century|morning|evening|summer|winter"
_EVENT = "(?:[a-z]{4,14} )?(?:elections?|world cup|olympics|super bowl|world series|census)"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_ENGLISH = (
    r"today|tonight|yesterday|tomorrow|nowadays|these days|currently|presently|right now",
    r"at present(?!-)|at the moment(?! (?:of|when|that|s?he|they)\b)",
    rf"as of (?:now|today|yet|this|late|early|mid)|as of {_MONTH}(?! ?\d)",
    r"up[ -]to[ -]date|so far(?! (?:as|from|away|that)\b)|(?<=, )to date",
    rf"this (?:{_TIME})",
    rf"(?<!the )(?:last|past|next) (?:{_TIME}|night)(?! of\b)",
    rf"(?:last|next|coming) {_EVENT}",
    r"upcoming|forthcoming|incumbent|reigning|newest|breaking news",
    r"most recent(?:ly)?|in recent (?:years|months|weeks|days|times)",
    r"what (?:time|day|date|year|month) is it|weather forecast",
    r"what(?:['’]s| is) the (?:time|date|weather)(?= (?:in|at|like|now)\b| ?\?| ?$)",
    r"(?:stock|share|gas|oil|gold|petrol|bitcoin) prices?|exchange rate",
    r"(?<!at the )latest(?! (?:possible|date|time|age|by)\b)",
)
# In the description of a patient these refer to the time of the case.
_ENGLISH_OUTSIDE_CASES = (
    r"still (?:alive|living|married|open|active|in (?:office|power|business|use|print))",
    r"recently|recent(?= (?:news|events?|version|films?|movies?|albums?|books?)\b)",
    # At the end or soon after the question word; not "a house which is now an inn".
    r"(?<!apocalypse )now(?= ?(?:[?!.]|$))",
    r"(?:who|where|how)(?:['’]s)?(?: (?!that|which|who)[\w'’.-]{1,20}){0,5} (now)(?! known)",
)
# These words mean that "current" is a flow: of electricity, water or ions.
_FLOWS = re.compile(
    r"\b(?:wires?|circuits?|amp(?:ere|erage|s)?|volt(?:s|age)?|electric(?:al|ity)?|resist(?:or|ance)"
    r"|magnetic|ocean|rivers?|gulf|neurons?|membrane|channels?|ions?|motors?|transformers?"
    r"|batter(?:y|ies)|diodes?|coils?|eddy|direct|alternating|inward|outward|stimulation)\b"
)
_CURRENT = re.compile(
    r"\bcurrent (?!flow|densit|strength|intensit|source|transformer|amplif|through|in\b|is\b|of\b"
    r"|at\b|and\b|or\b|from\b|that\b|which\b|to\b|by\b|with\b|on\b|can\b|was\b|are\b|through\b)[a-z]"
)
# The description of a patient, in which the present is the time of the case.
_CASE = re.compile(
    r"\b(?:patients?|he|she|his|her|females?|symptoms?|medications?|condition|drugs?|diagnos\w{1,4}"
    r"|treatment|tooth|vaccinat\w{1,4}|\d{1,2}[- ](?:years?|months?)[- ]old)\b"
)
_CHINESE = re.compile(
    r"(?<![出表体呈显发实再浮涌])现在|(?<![项题科节栏数剧])目前|当前|现任|最新|如今|当今|现今"
    r"|眼下|时下|近日(?!点)|近期|最近(?![的点处一距邻])|[今去明]年|[今昨明]天|[今昨明]晚|今日"
    r"|[本这上下](?:个)?(?:月|周|星期|季度|赛季)(?!期)|[本下上]届|截至[目今现]|至今|迄今|几点了|现役"
    r"|股价|汇率|天气预报|实时"
)
_PAST_LIMIT = re.compile(
    r"\b(?:as of|until|till|before|by|back in) (?:[a-z]{3,9} )?(?:the year )?(\d{4})\b"
)
_YEAR = re.compile(r"(?<![\d.,$€£¥%#-])(\d{4})(?![\d%]|[.,]\d| ?(?:mg|kg|km|ml|m|g|元|米|公里)\b)")
_CHINESE_YEAR = re.compile(r"([〇零一二三四五六七八九]{4})年")
_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_NEAREST = re.compile("[距离].{0,20}最近")
_WORDS = re.compile(rf"\b(?:{'|'.join(_ENGLISH)})\b", re.IGNORECASE)
_WORDS_OUTSIDE_CASES = re.compile(rf"\b(?:{'|'.join(_ENGLISH_OUTSIDE_CASES)})\b", re.IGNORECASE)


def wanted_now(question: str, today: date) -> str | None:
    """Return the words that show that a question is about the present; None if there are none.

    Years count from last year on. The time is linear in the question's length.
    """
    text = simplified(_asking_part(_NAMED.sub(" ", question[-LONGEST:])))
    year = _recent_year(text, today)
    limit = _PAST_LIMIT.search(text.lower())
    if year or (limit is not None and int(limit.group(1)) < today.year - 1):
        return year  # "the latest until 1990" is about the past
    match = _CHINESE.search(_NEAREST.sub("", text))
    return match.group() if match else _english(text)


def _asking_part(text: str) -> str:
    """Return the text or, if it is long, its last sentence, which contains the question."""
    text = " ".join(text.split())
    if len(text) <= WHOLE:
        return text
    sentences = [part for part in _SENTENCE.findall(text) if part.strip()]
    return sentences[-1].strip() if sentences else text


def _english(text: str) -> str | None:
    low = text.lower()
    words = _first_match(_WORDS, text)
    if words or _CASE.search(low):
        return words
    current = _CURRENT.search(low)
    if current and not _FLOWS.search(low):
        return "current"
    return _first_match(_WORDS_OUTSIDE_CASES, text)


def _first_match(words: re.Pattern[str], text: str) -> str | None:
    """Return the first match that is not part of a name."""
    all_capitals = not any(letter.islower() for letter in text)
    for match in words.finditer(text):
        # A capital inside a sentence marks a name: the film Yesterday, the magazine People Now.
        word = match.lastindex or 0
        place = match.start(word)
        begins_sentence = text[:place].rstrip()[-1:] in ("", *".?!:;")
        if all_capitals or not text[place].isupper() or begins_sentence:
            return match.group(word)
    return None


def _recent_year(question: str, today: date) -> str | None:
    """Return the first number of a year, from last year on."""
    for number in [*_YEAR.findall(question), *_CHINESE_YEAR.findall(question)]:
        if today.year - 1 <= int(number.translate(_DIGITS)) <= today.year + YEARS_AHEAD:
            return str(number)
    return None
