"""Subtitles (SubRip, WebVTT): what is said, and by whom, without numbers and times."""

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
    r"</?[a-z][^<>\n]{0,100}>|<[\d:.]+>|\{\\[^{}\n]{0,100}\}", re.IGNORECASE | re.MULTILINE
)
_TURN = re.compile(r"^\s*(?:-|>>+)\s*|(?=<v[. ])", re.MULTILINE)  # another one speaks
_VOICE = re.compile(r"<v[^ <>\n]{0,100} +([^<>\n]{1,100})>")
_ENDS = re.compile(r"[.!?。！？…♪\])][\"'”’»」]*\Z")


def parse_subtitles(file: BinaryIO, limits: ParserLimits) -> Parsed:
    """Yield the words of all cues; a line ends where a sentence or a turn seems to end.

    Lines that stay on the screen in the next cue are read once. Who is named to speak is a
    paragraph above what is said, as rules would take no fact from a sentence behind a name.
    """
    text = clean(decode(read_whole(file, limits), limits.charset))
    cues = _TIMES.split(text)[1:]
    lines, above, speaker = [""], [""], ""
    for number, cue in enumerate(cues, 1):
        cue = cue.rstrip().removesuffix(f"\n{number + 1}")
        first, *others = _GAP.split(cue)
        if number < len(cues):
            others = [part for part in others if "\n" in part]  # a line alone names the next cue
        seen = "\n".join((first, *(part for part in others if not _NO_CUE.match(part))))
        marked = [line for line in seen.split("\n") if _plain(line)]
        shown = [*map(_plain, marked)]
        again = next(n for n in range(len(shown), -1, -1) if above[len(above) - n :] == shown[:n])
        above = shown
        for place, turn in enumerate(_TURN.split("\n".join(marked[again:]))):
            voice, words = _VOICE.match(turn), _plain(turn)
            is_turn = place > 0 and not voice and not words[:1].islower()
            if voice and voice[1] != speaker:
                speaker, is_turn = voice[1], True
                lines.append(f"\n{speaker}:\n")
            if words and (is_turn or _ENDS.search(lines[-1])):
                lines.append(words)
            else:
                lines[-1] = f"{lines[-1]} {words}".strip()
    yield ParsedText(text="\n".join(lines).strip())


def _plain(words: str) -> str:
    return one_line(unescape(_MARK.sub("", words)))
