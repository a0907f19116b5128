"""Subtitles (SubRip, WebVTT): what is said, without numbers and times."""

import re
from html import unescape
from typing import BinaryIO

from tasks.ingest.formats.cleaning import clean, decode
from tasks.ingest.formats.markdown import one_line
from tasks.ingest.formats.parsed_text import Parsed, ParsedText, ParserLimits
from tasks.ingest.formats.unpacking import read_whole

_TIMES = re.compile(r"^[ \t]*(?:\d+:)?\d\d?:\d\d[.,]\d{1,3}[ \t]*-->[^\n]*\n?", re.MULTILINE)
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)\b")
_GAP = re.compile(r"\n[ \t]*\n\s*")
_MARK = re.compile(
    r"</?[a-z][^<>\n]{0,100}>|<[\d:.]+>|\{\\[^{}\n]{0,100}\}|^\s*(?:-|>>+)\s*",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS = re.compile(r"[.!?。！？…♪\])][\"'”’»」]*\Z")


def parse_subtitles(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the words of all cues; a line ends where a sentence seems to end."""
    text = clean(decode(read_whole(file, limits), limits.charset))
    cues = _TIMES.split(text)[1:]
    lines = [""]
    for number, cue in enumerate(cues, 1):
        cue = cue.rstrip().removesuffix(f"\n{number + 1}")
        first, *others = _GAP.split(cue)
        if number < len(cues):
            others = [part for part in others if "\n" in part]  # a line alone names the next cue
        seen = [first, *(part for part in others if not _NO_CUE.match(part))]
        words = one_line(unescape(_MARK.sub("", "\n".join(seen))))
        if _ENDS.search(lines[-1]):
            lines.append(words)
        elif not lines[-1].endswith(words):  # words on a screen may be shown twice
            lines[-1] = f"{lines[-1]} {words}".strip()
    yield ParsedText(text="\n".join(lines))
