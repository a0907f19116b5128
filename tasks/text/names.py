"""Compare names by a normal form, and recognise pronouns, titles and acronyms.

Every function takes time linear in the name's length and examines at most `MAX_NAME` characters,
since names come from untrusted documents.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from tasks.text.function_words import ARTICLES
from tasks.text.languages import HAN_OR_KANA_CLASS, word_set

MAX_NAME = 400
"""Only this many first characters of a name are compared."""


LEGAL_FORMS = word_set(
    "inc corp corporation company co ltd limited plc llc ag gmbh sa nv incorporated group holdings"
)
MINOR_WORDS = word_set("a an and at by de del della der des di du for in la le of on the to")

EXPANDED = {"st": "saint", "ste": "sainte", "mt": "mount", "ft": "fort"}
# The normal form of names of letters and digits without these words is in lower case.
_PLAIN = re.compile(r"^(?:[A-Za-z0-9]{2,}|[0-9])(?: (?:[A-Za-z0-9]{2,}|[0-9]))*$")
_CHANGED = re.compile(
    rf"^(?:{'|'.join(sorted(ARTICLES))}) |(?:^| )(?:{'|'.join(EXPANDED)}) ", re.IGNORECASE
)
_LATIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ′`´＇ʹ", "'"))
_MARKS = re.compile(r"([a-z\u0370-\u03ff])[\u0300-\u036f]+")
_POSSESSIVE = re.compile(r"(?:'s|(?<=s)')$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_WIDE_GAP = re.compile(rf"(?<=[{HAN_OR_KANA_CLASS}]) (?=[{HAN_OR_KANA_CLASS}])")
_HAN = re.compile(f"[{HAN_OR_KANA_CLASS}]")
_COMMAS = re.compile("[,，;；、]")
_ABBREVIATED = re.compile("^(?:英文|英语)?(?:简称|缩写|全称|名称|名)?[为是：:]?")
_LATIN_NAME = re.compile(r"[A-Z][A-Za-z0-9 .'’&/-]*")
GENERATION = r"(?:jr|sr|junior|senior|ii|iii|iv|the elder|the younger)\b\.?"
_GENERATION = re.compile(rf",? ({GENERATION})$", re.IGNORECASE)
_ENCLOSING = "\"'“”‘’«»‹›《》〈〉「」『』【】[]*_"

_CAPITALISED = re.compile("[A-Z][a-z]*")

_PRONOUNS = {
    "en": word_set(
        "i me my mine myself you your yours yourself yourselves he him his himself she her hers "
        "herself it its itself we us our ours ourselves they them their theirs themselves one "
        "oneself this that these those who whom whose which what whoever whatever someone "
        "somebody something anyone anybody anything everyone everybody everything nobody nothing "
        "none each other another others both all some many few several such here there former "
        "latter same"
    ),
    "zh": word_set(
        "我 你 您 他 她 它 牠 祂 我们 你们 他们 她们 它们 我們 你們 他們 她們 它們 咱们 咱們 "
        "自己 本人 其 之 此 该 該 这 那 這 这个 那个 這個 那個 这些 那些 這些 这里 那里 这儿 那儿 "
        "谁 誰 什么 什麼 哪 哪个 哪里 前者 后者 後者 两者 二者 "
        "对方 對方 大家 彼此 人们 某人 其他 其它 其中"
    ),
}

_TITLES_OF_MEN = word_set(
    "sir lord mr master monsieur herr signor señor don father brother king prince duke count earl "
    "baron emperor tsar czar sultan congressman"
)
_TITLES_OF_WOMEN = word_set(
    "dame lady mrs ms miss madam madame frau señora doña sister queen princess duchess countess "
    "baroness empress congresswoman"
)
TITLES = (
    _TITLES_OF_MEN
    | _TITLES_OF_WOMEN
    | word_set(
        "mx dr doctor prof professor rev reverend fr pastor bishop archbishop cardinal pope rabbi "
        "imam sheikh president chancellor premier governor senator representative mayor minister "
        "secretary ambassador judge justice shah general gen colonel col major maj captain capt "
        "lieutenant lt sergeant sgt admiral adm commander marshal hon honourable honorable vice "
        "prime deputy former ex-president late saint st"
    )
)
POSTNOMINALS = word_set(
    "phd md esq obe cbe kbe mbe frs kc qc mp jp dphil msc bsc mba gbe cmg kcmg gcmg kcb gcb cvo "
    "kcvo gcvo dso frse"
)
_CHINESE_TITLES_OF_MEN = word_set("先生 国王 皇帝 王子")
_CHINESE_TITLES_OF_WOMEN = word_set("女士 小姐 夫人 太太 女王 公主")
_CHINESE_TITLES = (
    _CHINESE_TITLES_OF_MEN
    | _CHINESE_TITLES_OF_WOMEN
    | word_set("教授 博士 院士 老师 医生 总统 主席 总理 部长 省长 市长 将军 上校 爵士")
)
_NOUN_OF_OWNER = re.compile(r"(?:the\s+)?(.+?)\s+of\s+(?:the\s+)?(\S.*)", re.IGNORECASE)
_OWNER_S_NOUN = re.compile(r"(?:the\s+)?(\S.*?)['’]s\s+(\S.*)", re.IGNORECASE)


def other_genitive(name: str) -> str | None:
    """Return "Y's X" for "the X of Y", and "X of Y" for "Y's X"; None for any other name."""
    if genitive := _NOUN_OF_OWNER.fullmatch(name):
        return f"{genitive[2]}'s {genitive[1]}"
    if genitive := _OWNER_S_NOUN.fullmatch(name):
        return f"{genitive[2]} of {genitive[1]}"
    return None


def normalise_name(name: str) -> str:
    """Return the form in which all spellings of a name are equal; never empty for a visible name.

    It ignores case, width, accents of Latin and Greek letters, quotes and book-title marks, hyphens
    and `&`, dots and spaces in initials, `St`, a leading English article, a possessive ending
    and a disambiguator in parentheses (see `disambiguator`).
    """
    return _normalise(name[:MAX_NAME])


@lru_cache(maxsize=1 << 17)  # 40 MB
def _normalise(name: str) -> str:
    if _PLAIN.fullmatch(name) and not _CHANGED.search(name):
        return name.lower()
    base, _ = disambiguator(_clean(name))
    folded = fold_letters(base).strip(_ENCLOSING + " .,;:")
    words = _words(_POSSESSIVE.sub("", folded))
    return _WIDE_GAP.sub("", " ".join(words)) or folded or fold_letters(_clean(name))


def disambiguator(name: str) -> tuple[str, str]:
    """Split `Mercury (planet)` into `("Mercury", "planet")`; the second is empty without one."""
    text = name.strip()
    closing = {")": "(", "）": "（"}.get(text[-1:])
    start = text.rfind(closing) if closing else -1
    base, note = text[:start].rstrip(), text[start + 1 : -1].strip()
    if start <= 0 or not base or not note:
        return text, ""
    return base, note


def other_names_in(base: str, note: str) -> list[str]:
    """Return the other names of `base` in the parentheses after it; none if they disambiguate it.

    They are an acronym of its words or, after a name in Chinese, a name in Latin letters and its
    abbreviation: "水文组织（Water Body，简称 WB）".
    """
    if is_acronym_of(note, base):
        return [note]
    if not _HAN.search(base) or "/" in base:  # 棕/黑（GND）
        return []
    parts = [_ABBREVIATED.sub("", part.strip()).strip() for part in _COMMAS.split(note)]
    return parts if all(_LATIN_NAME.fullmatch(part) for part in parts) else []


def is_pronoun(text: str, language: str) -> bool:
    """Return whether a text is a pronoun or the like; `US` and `IT` in capitals are not."""
    word = text.strip().strip(_ENCLOSING)
    if len(word) > 20:
        return False
    if word in _PRONOUNS["zh"]:
        return True
    if language == "zh" or (len(word) > 1 and word.isupper()):
        return False
    return word.lower() in _PRONOUNS["en"]


@lru_cache(maxsize=1 << 16)
def strip_titles(name: str) -> str:
    """Return a person's name without forms of address, unless nothing else would be left.

    Use it only for names of people: it would shorten `General Motors` to `Motors`.
    """
    text = name[:MAX_NAME].strip()
    words = text.split()
    start, end = 0, len(words)
    while start < end - 1 and words[start].strip(".,").casefold() in TITLES:
        start += 1
    if start and start < end - 1 and words[start].casefold() == "of":
        return text  # King of Ruritania, Duke of Strelsau: the title is the name
    while end > start + 1 and words[end - 1].replace(".", "").strip(",").casefold() in POSTNOMINALS:
        end -= 1
    if (start, end) != (0, len(words)):
        return " ".join(words[start:end]).rstrip(",")
    for title in _CHINESE_TITLES:
        if text.endswith(title) and len(text) > len(title) + 1:
            return text[: -len(title)]
    return text


def split_generation(name: str) -> tuple[str, str]:
    """Split `Ada Moe Jr.` into `("Ada Moe", "Jr.")`; the second is empty without a generation."""
    found = _GENERATION.search(name[:MAX_NAME])
    return (name[: found.start()], found[1]) if found else (name, "")


@lru_cache(maxsize=1 << 16)
def gender_of_title(name: str) -> Literal["man", "woman"] | None:
    """Return what the form of address right before (in Chinese: after) a person's name tells.

    "Lord Mayor Field" and "Mr Justice Field" tell nothing; neither does a title alone.
    """
    text = name[:MAX_NAME].strip()
    words = [word.strip(".,").casefold() for word in text.split()]
    titles = list(takewhile(TITLES.__contains__, words))
    if titles and len(titles) < len(words):
        man, woman = titles[-1] in _TITLES_OF_MEN, titles[-1] in _TITLES_OF_WOMEN
    else:
        man = text not in _CHINESE_TITLES and text.endswith(tuple(_CHINESE_TITLES_OF_MEN))
        woman = text not in _CHINESE_TITLES and text.endswith(tuple(_CHINESE_TITLES_OF_WOMEN))
    return "man" if man else "woman" if woman else None


def is_acronym_of(short: str, long: str, *, inner: bool = False) -> bool:
    """Return whether `short` consists of the initials of `long`, with or without minor words.

    A long name may be written as one word: "OSM" of "OpenStreetMap".
    With `inner` words may give further letters in order: "TMCH" of "Trademark Clearinghouse".
    """
    letters = [c for c in short[:24] if c.isalnum()]
    if not 2 <= len(letters) <= 12 or sum(c.isupper() for c in letters) < 2 or " " in short.strip():
        return False
    words = _words(fold_letters(_clean(long)))[:32]
    if len(words) == 1:
        words = [word.casefold() for word in words_joined(long)]
    if len(words) < 2:
        return False
    wanted = "".join(letters).casefold()
    reached = {0}
    for word in words:
        taken = {at + 1 for at in reached if wanted[at : at + 1] == word[0]}
        if inner:
            taken |= {end for at in taken for end in _ends_within(word[1:], wanted, at)}
        reached = taken | reached if word in MINOR_WORDS else taken
    return len(wanted) in reached


def words_joined(name: str) -> list[str]:
    """Return the words of "OpenStreetMap": three or more with capitals, two of several letters."""
    words = _CAPITALISED.findall(name[:MAX_NAME])
    whole = len(words) > 2 and "".join(words) == name
    return words if whole and sum(len(word) > 1 for word in words) > 1 else []


def _ends_within(rest: str, wanted: str, start: int) -> Iterator[int]:
    """Yield how far the letters of a word, in their order, lead into an acronym."""
    at = start
    for letter in rest:
        if at < len(wanted) and wanted[at] == letter:
            at += 1
            yield at


def _clean(name: str) -> str:
    """Return the first `MAX_NAME` characters, compatibility-folded, without control characters."""
    text = unicodedata.normalize("NFKC", name[:MAX_NAME])[:MAX_NAME]
    if text.isascii() and text.isprintable():
        return text.strip()
    invisible = {"Cc", "Cf", "Cs", "Co"}
    spaced = "".join(" " if c.isspace() else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) not in invisible).strip()


def fold_letters(text: str) -> str:
    """Return a text without case, and Latin and Greek letters without accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    plain = _MARKS.sub(r"\1", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFKC", plain).translate(_LATIN).translate(_APOSTROPHES)


def _words(folded: str) -> list[str]:
    """Return the words of a folded name: no leading article, initials as one word, `St` in full."""
    parts = folded.split()
    if len(parts) > 1 and parts[0] in ARTICLES and not _is_initials(parts[1]):
        parts = parts[1:]
    words: list[str] = []
    initials = False  # whether the last word is made of initials
    for part in parts:
        dotted = _is_initials(part)
        for word in [part.replace(".", "")] if dotted else _split_signs(part):
            if dotted and initials:
                words[-1] += word
            else:
                words.append(word)
            initials = dotted
    return [
        EXPANDED.get(word, word) if at < len(words) - 1 else word for at, word in enumerate(words)
    ]


def _is_initials(part: str) -> bool:
    return bool(_DOTTED.fullmatch(part)) or (len(part) == 1 and part.isascii() and part.isalpha())


def _split_signs(part: str) -> list[str]:
    """Split at punctuation, except inside words: 3.14, C#, O'Neill (as oneill)."""
    if part.isalnum():
        return [part]
    out: list[str] = []
    for at, c in enumerate(part):
        if c == "&":
            out.append(" and ")
        elif c in ".,:" and part[at - 1 : at].isdigit() and part[at + 1 : at + 2].isdigit():
            out.append(c)
        elif c == "'":
            continue
        elif c != "#" and unicodedata.category(c)[0] == "P":
            out.append(" ")
        else:
            out.append(c)
    return "".join(out).split()
