"""Read the marks of Markdown's dialects (GitHub, Obsidian, Logseq, wikis) as their readers do.

Links between notes become their words; comments, embedded files, references to blocks and struck
words are left out.
"""

import re

from tasks.ingest.formats.wikitext import UNSEEN_LINKS

_CALLOUT = re.compile(r"^> ?\[![\w-]{1,30}\][+-]?[ \t]*+(.*)\n((?:>.*(?:\n|\Z))*)", re.MULTILINE)
_QUOTED = re.compile(r"^> ?", re.MULTILINE)
_MARKS = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,})(?s:.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<tick>`{1,3})(?!`)[^\n]{1,300}?(?<!`)(?P=tick)(?!`))"
    r"|(?P<unseen>(?<![\w%])%%(?!%)(?:[^%]|%(?!%))*%%"
    r"|\{/\*(?s:(?!\{/\*|\*/\}).)*\*/\}|\{#[ \n](?s:(?!\{#|#\}).)*#\}"
    r"|^ {0,3}\[[^\[\]\n]{1,100}\]:[ \t]*(?:#|<#?>)(?:[ \t]*\([^()]{0,5000}\)|[^\n]*)$"
    r"|(?<![\\~])~~(?=[^\s~])(?:[^~\n]|~(?!~)|\n(?![ \t]*\n))+~~(?!~)"
    r"|\[\.?line-through\]#[^#\n]{1,500}#"
    r"|!\[\[[^\[\]\n]{1,300}\]\]|(?<!\()\(\([0-9a-f]{8}-[0-9a-f-]{27}\)\)"
    r"|(?<![ \t])[ \t]+\^(?!\d+$)[A-Za-z0-9-]{1,40}$"
    r"|^[ \t]*(?:[-*][ \t]+)?(?:id|collapsed)::[ \t][^\n]*$)(?P<after>[ \t]*)"
    r"|(?<![\w\])])#?\[\[(?P<link>[^\s\[\]][^\[\]\n]{0,300})\]\](?![(\[])"
    r"|(?<![\w=])==(?P<marked>[^\s=](?:[^=\n]{0,500}[^\s=])?)==(?![\w=])"
    r"|^(?P<bullet>[ \t]*(?:[-*][ \t]+)?)(?P<property>[^\W\d_][\w \t-]{0,40})::(?=[ \t]+\S)"
    r"|(?P<line><br[ \t]*/?>)"
    r"|(?<=[ \t])#(?P<tag>[^\W\d_][\w/-]{0,60})",
    re.MULTILINE | re.IGNORECASE,
)
_LONGEST_ROW = 5_000
_BAR = re.compile(r"\\?\|")
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_BRACKETED = re.compile(r"[ \t]*\([^()]*\)$")


def read_dialects(text: str) -> str:
    """Return a Markdown text with such marks read, outside of code."""
    return _MARKS.sub(_read, _CALLOUT.sub(_read_callout, text))


def _read_callout(callout: re.Match[str]) -> str:
    """Return a box, which is written as a quotation, as the author's own words."""
    return f"{callout[1]}\n\n{_QUOTED.sub('', callout[2])}\n"


def _read(mark: re.Match[str]) -> str:
    start = max(mark.start() - _LONGEST_ROW, 0)
    before = mark.string[start : mark.start()].rpartition("\n")[2]
    if mark["code"]:
        return mark[0]
    if mark["unseen"]:
        return mark["after"] if before.strip() == before != "" else ""
    if mark["link"]:
        return _words(mark["link"])
    if mark["property"]:
        return f"{mark['bullet']}{mark['property']}:"
    if mark["line"]:
        return " " if "|" in before or before.startswith("#") else "\n"
    return _MARKS.sub(_read, mark["marked"]) if mark["marked"] else mark["tag"]


def _words(link: str) -> str:
    """Return the words of a link between notes: its own, else the name of its target."""
    target, *words = _BAR.split(_BREAK.sub(" ", link), maxsplit=1)
    if UNSEEN_LINKS.match(target):
        return ""
    if words and words[0].strip():
        return words[0].strip()
    note, _, heading = target.partition("#")
    name = note.rpartition("/")[2].removesuffix(".md") or heading.rpartition("#")[2]
    return _BRACKETED.sub("", name.rpartition(":")[2]) if words else name.strip()
