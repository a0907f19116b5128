"""Detect the language of texts, and define which characters are Chinese.

`detect_language` is for documents, which may be in any language; `language_of` is for texts that
are processed by rules, which know English and Chinese.
"""

import re
from collections import Counter

from tasks.text.english_words import is_word

# Inside the brackets of a regular expression.
HAN_CLASS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA_CLASS = "\u3040-\u30ff"
HAN_OR_KANA_CLASS = KANA_CLASS + HAN_CLASS
"""Characters of scripts without spaces between words."""

HAN = re.compile(f"[{HAN_CLASS}]+")
"""A run of Chinese characters."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as one string."""
    return frozenset(words.split())


_SCRIPTS = {
    "han": HAN_CLASS,
    "kana": KANA_CLASS,
    "hangul": "\u1100-\u11ff\uac00-\ud7a3",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "thai": "\u0e00-\u0e7f",
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
}
_SCRIPT = {name: re.compile(f"[{span}]") for name, span in _SCRIPTS.items()}
_ONE_LANGUAGE = {"hangul": "ko", "greek": "el", "hebrew": "he", "devanagari": "hi", "thai": "th"}

# The most frequent function words; a word shared by several languages is listed where it is most
# frequent, and the margin below decides the rest.
_FREQUENT = {
    "en": "the of and to in is was for that with as on by it from are at were be his this an",
    "de": "der die und das den von zu mit des auf ist im dem nicht ein eine als auch wurde für",
    "fr": "le la les des et du une est dans pour que qui sur par au plus avec sont il cette",
    "es": "el los las del que y en por con una para es su como más fue se lo al entre",
    "it": "il di che la della e per del un è in con una nel sono dei gli più alla anche",
    "pt": "o os do da que e em um para com uma não dos no na por mais as foi ao",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er ook door als bij",
    "sv": "och i att det som en på är av för med den till inte om ett har var från",
    "pl": "w i na z do się nie jest to że przez o od po za jako dla oraz był jego",
    "tr": "ve bir bu için ile olarak da de daha olan çok gibi en kadar sonra ise ne var",
    "vi": "của và là các có trong được cho một những với không người đã từ này khi đến",
    "id": "yang dan di dari untuk dengan pada ini adalah dalam tidak oleh sebagai ke itu",
}
_FUNCTION_WORDS = {language: word_set(words) for language, words in _FREQUENT.items()}
_OF_ALL_LANGUAGES = frozenset().union(*_FUNCTION_WORDS.values())
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 6_000  # characters examined: from the start, the middle and the end
_LEAST_SHARE = 0.12  # the least share of function words; running text has 0.3 and more
_LEAST_MARGIN = 1.25  # the least ratio of the best language's share to the second's
_LEAST_ENGLISH = 0.8  # the least share of words of the dictionary, where function words tie
_SHORT = 2  # letters; such words are of any language
_ADDRESS = re.compile(r"https?://[^\s()<>]+|\]\([^()\s]*\)|<[/a-zA-Z][^<>]*>|`[^`\n]+`")  # or code
FENCED = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)[^\n]*$|\Z)", re.M | re.S
)
"""A block of code."""
_FEWEST_ENGLISH = 12  # different words that tell English from names, where function words are few


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of a document's words, or `und` if unclear."""
    sample = _ADDRESS.sub(" ", _take_sample(_without_code(text)))
    if sample.isascii():
        return _latin_language(sample)
    counts = {name: len(pattern.findall(sample)) for name, pattern in _SCRIPT.items()}
    # A Han character carries as much meaning as a short word of an alphabet.
    counts["han"], counts["kana"] = 3 * counts["han"], 3 * counts["kana"]
    total = sum(counts.values())
    script = max(counts, key=counts.__getitem__)
    if total == 0 or (counts[script] < 0.5 * total and script not in ("han", "kana")):
        return "und"
    if script in ("han", "kana"):
        return "ja" if counts["kana"] > 0.1 * (counts["han"] + counts["kana"]) else "zh"
    if script == "cyrillic":
        return "uk" if re.search("[іїєґІЇЄҐ]", sample) else "ru"
    if script == "arabic":
        return "fa" if re.search("[پچژگ]", sample) else "ar"
    return _ONE_LANGUAGE.get(script) or _latin_language(sample)


def _latin_language(sample: str) -> str:
    # A capital alone is a numeral or an initial: George I.
    words = Counter(word if len(word) == 1 else word.lower() for word in _WORD.findall(sample))
    shares = {}
    for language, own in _FUNCTION_WORDS.items():
        commonest, *others = sorted(map(words.__getitem__, own), reverse=True)
        # A table may repeat one word, such as "no"; running text has others as often.
        shares[language] = (min(commonest, sum(others) + 1) + sum(others)) / max(words.total(), 1)
    *_, second, best = sorted(shares, key=shares.__getitem__)
    clear = shares[best] >= max(_LEAST_SHARE, shares[second] * _LEAST_MARGIN)
    if clear and (best == "en" or not _has_english_words(sample, _FEWEST_ENGLISH)):
        return best
    fewest = 1 if shares["en"] >= _LEAST_SHARE else _FEWEST_ENGLISH
    return "en" if _has_english_words(sample, fewest) else "und"


def _has_english_words(sample: str, fewest: int) -> bool:
    """Tell whether words beside function words are English, as in short texts, lists and tables.

    There must be a number of different ones. Words with capitals, if they are not, may be names.
    """
    words = [word for word in _WORD.findall(sample) if word.lower() not in _OF_ALL_LANGUAGES]
    small = [word for word in words if word.islower()]
    return any(
        len(set(found)) >= fewest and sum(map(is_word, found)) >= _LEAST_ENGLISH * len(found)
        for found in (small, [word.lower() for word in words if len(word) > _SHORT])
    )


def _take_sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    third, middle = _SAMPLE // 3, len(text) // 2
    return " ".join((text[:third], text[middle : middle + third], text[-third:]))


def _without_code(text: str) -> str:
    words = FENCED.sub("", text) if "```" in text or "~~~" in text else text
    return words if _WORD.search(words) else text


def is_chinese(text: str) -> bool:
    """Return whether a text is Chinese: at least a fifth of its letters, but for code, are Han."""
    text = _without_code(text)
    han = sum(map(len, HAN.findall(text)))
    return han > 0 and 5 * han >= sum(map(str.isalpha, text))


def language_of(text: str) -> str:
    """Return the language whose rules apply to a text: `zh` if `is_chinese`, else `en`."""
    return "zh" if is_chinese(text) else "en"
