"""From bytes to clean text: decoding, newlines, invisible characters and NFC."""

import codecs
import re
import unicodedata

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.text.words import in_plain_letters

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# First bytes of formats that can look like text for a while.
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"PAR1", b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8",
    b"\x7fELF", b"MZ\x90\x00", b"\xd0\xcf\x11\xe0", b"OggS", b"ID3", b"SQLite format 3\x00",
)  # fmt: skip
_SAMPLE = 65_536  # bytes examined to tell text from binary
_SPARED_CONTROLS = 8
_MAX_CONTROLS = 0.02  # a text with a larger share of control characters is binary

# What browsers read a charset as, by Python's names (https://encoding.spec.whatwg.org): pages that
# declare the smaller charset are usually written in the larger one.
_LARGER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs",
    "euc_kr": "cp949", "shift_jis": "cp932", "euc_jp": "euc_jis_2004",
}  # fmt: skip
_LABELS = {  # that browsers know and Python does not
    "user-defined": "cp1252", "windows-949": "cp949", "ksc_5601": "cp949", "windows-874": "cp874",
    "dos-874": "cp874", "windows-31j": "cp932", "gb_2312": "gb18030", "gb_2312-80": "gb18030",
    "cn-big5": "big5", "unicode": "utf-8", "mac": "mac-roman", "macintosh": "mac-roman",
    "mac-ukrainian": "mac-cyrillic", "koi8-ru": "koi8-u", "visual": "iso8859-8",
    "logical": "iso8859-8",
}  # fmt: skip
_NUMBERED = re.compile(r"iso-?8859-?(\d+)(?:-[ei])?")
_MAX_BROKEN = 0.01  # a text with a larger share of broken characters is not in its charset

_PRIVATE = re.compile("[\ue000-\uf8ff]")  # as of Big5 that is read as GB18030

_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL_BYTES = (*range(9), *range(14, 27), 28, 29, 30, 31, 127)
_STRUCK_OVER = re.compile(rb"(.)\x08(?=\1)|_\x08")
# What terminals carry out and do not show: colours, titles of windows, letters struck over.
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]{0,100}[ -/]{0,9}[@-~]|[\]PX^_][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)"
    r"|[()*+#%][0-9A-Z@]|[78=>])|([^\n])\x08(?=\1)|_\x08|\x08_"
)
# Charsets whose bytes are all ASCII, by what switches their letters on.
_SHIFTS = (
    (re.compile(rb"\x1b\$[@B][!-~]{2}"), "iso2022_jp_ext"),
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"~\{(?:[!-w][!-~]){2,200}~\}"), "hz"),
)
_IS_BINARY = "Its content is binary, not text."
# Controls; soft hyphen; zero-width and bidi marks; variation selectors; annotation marks;
# non-characters; lone surrogates; tag characters. A joiner stays inside scripts that need it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffc\ufffe\uffff\U000e0000-\U000e0fff]"
    "|(?<![\u0620-\u0dff])[\u200c\u200d]"
)
_SPACES = re.compile("[\xa0\u2007\u202f]")
_HYPHENS = re.compile("[\u2010\u2011]")


def decode(data: bytes, charset: str | None = None) -> str:
    """Decode a file's bytes as UTF-8, UTF-16 or UTF-32 or, failing that, as `charset`.

    The charset is never guessed: raises `RefusalError` for binary data and any other encoding.
    """
    encoding = encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if charset is None or encoding != "utf-8":
            raise not_decodable(error) from error
    try:
        text = data.decode(charset)
    except UnicodeDecodeError as error:
        raise not_decodable(error, charset) from error
    if len(_PRIVATE.findall(text)) > _MAX_BROKEN * len(text):
        sentence = (
            f"It is in another charset than {charset.upper()} (charset, under [read]), in which "
            "some of its characters would have no meaning; save it as UTF-8."
        )
        raise RefusalError(Reason.BAD_ENCODING, sentence)
    return text


def charset_meant(label: str) -> str:
    """Return the charset that browsers mean by a label; raises `LookupError` for an unknown one."""
    label = _NUMBERED.sub(r"iso8859-\1", re.sub(r"^(x-)+", "", label.strip().lower()))
    name = codecs.lookup(_LABELS.get(label, label)).name
    return _LARGER.get(name, name)


def decode_as_declared(data: bytes, label: str) -> str:
    """Decode bytes in the charset that is meant by a label; broken characters become U+FFFD.

    Raises `LookupError` for an unknown label, and `UnicodeError` if more than a hundredth of the
    characters are broken.
    """
    text = data.decode(charset_meant(label), "replace")
    if text.count("\ufffd") > _MAX_BROKEN * len(text):
        raise UnicodeError(f"it is not {label}")
    return text


def encoding_of(start: bytes) -> str:
    """Return a file's encoding from its first bytes: byte order mark, zeros, shifts, else UTF-8.

    Raises `RefusalError` for binary data.
    """
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    sample = start[:_SAMPLE]
    if sample.startswith(_MAGIC):
        raise RefusalError(Reason.BINARY, _IS_BINARY)
    if wide := _wide_encoding(sample):
        return wide
    # A short text with some stray control characters is still a text.
    spared = _SPARED_CONTROLS if _may_be_utf8(sample) else 0
    controls = sum(sample.count(byte) for byte in _CONTROL_BYTES)
    controls -= len(_STRUCK_OVER.findall(sample))
    if controls > max(spared, _MAX_CONTROLS * len(sample)):
        raise RefusalError(Reason.BINARY, _IS_BINARY)
    shifts = (name for shift, name in _SHIFTS if start.isascii() and shift.search(start))
    return next(shifts, "utf-8")


def not_decodable(error: UnicodeDecodeError, charset: str = "") -> RefusalError:
    """Return the refusal of bytes that are invalid in a charset, or in the error's encoding."""
    encoding = charset or error.encoding  # which is "charmap" for many charsets
    sentence = f"It is not valid {encoding.upper()}; save it as UTF-8."
    if encoding == "utf-8":
        sentence = (
            "It is not valid UTF-8 and declares no charset; save it as UTF-8, "
            "or name its charset in settings.toml (charset, under [read])."
        )
    return RefusalError(Reason.BAD_ENCODING, sentence)


def clean(text: str) -> str:
    r"""Return the text with `\n` newlines, NFC, plain letters and spaces, and nothing invisible."""
    text = _NEWLINES.sub("\n", text)
    if "\x1b" in text or "\b" in text:
        text = _TERMINAL.sub("", text)
    text = _INVISIBLE.sub("", text)
    if text.isascii():
        return text
    plain = in_plain_letters(_HYPHENS.sub("-", _SPACES.sub(" ", text)))
    return unicodedata.normalize("NFC", plain)


def clean_line(text: str, longest: int = 300) -> str:
    """Return the text as one clean line, for titles and names: spaces collapsed, cut to length."""
    return " ".join(clean(text[: 4 * longest]).split())[:longest].rstrip()


def _wide_encoding(sample: bytes) -> str | None:
    """Return the UTF-16 variant whose pattern of zero bytes the sample shows, or None."""
    half = len(sample) // 2
    if half < 4 or 0 not in sample:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.4 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.02 * half:
        return "utf-16-be"
    return None


def _may_be_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
