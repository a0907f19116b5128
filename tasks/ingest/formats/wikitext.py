"""Wiki markup to text: headings and lists become Markdown, references and layout are dropped.

Templates are not expanded. An unknown one of one argument stands for that where words need it.
"""

import html
import re
from typing import Any

from tasks.ingest.formats.markdown import Cell, one_line, table

_DROPPED_TAGS = frozenset(
    {"ref", "references", "math", "timeline", "syntaxhighlight", "source", "score"}
    | {"imagemap", "templatedata", "style", "script", "pre", "del", "s", "strike"}
)
UNSEEN_LINKS = re.compile(
    r"^\s*:?(file|image|media|category|datei|bild|kategorie|fichier|catégorie|archivo|categoría"
    r"|文件|图像|檔案|分类|分類|ファイル|カテゴリ)\s*:",
    re.IGNORECASE,
)
_CATEGORY = re.compile(
    r"\[\[\s*(?:category|kategorie|catégorie|categoría|分类|分類|カテゴリ)\s*:([^\[\]|\n]{1,200})",
    re.IGNORECASE,
)
# Templates that represent words of a sentence, and the argument that holds the words.
_SPOKEN = {
    "lang": -1, "transl": -1, "nowrap": 0, "nobr": 0, "small": 0, "abbr": 0, "ill": 0,
    "interlanguage link": 0, "as of": 0, "circa": 0, "c.": 0, "ipa": None,
}  # fmt: skip
_FRAMED = re.compile(r"\|\s*(?:thumb(?:nail)?|framed?|mini(?:atur)?|vignette|缩略图|縮圖)\s*\|")
_GOES_ON = re.compile(r"[\w*] ")  # the end of words that lack the next
_DATED = re.compile(r"^(birth|death|start|end|film|release)[ _\-](date|year)", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*([*#:;]+)[ \t]*(?=\S)", re.MULTILINE)
_DEFINED = re.compile(r"^;[ \t]*(\S.*?)[ \t]*\n:[ \t]*(?=\S)", re.MULTILINE)
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_EMPTY_BRACKETS = re.compile(r"[ \t]*[(（][\s,;，；]*[)）]")
# Sections that refer to other works: their items are links, not statements of the page.
_LINKS = re.compile(
    r"^(\#+[ ](?:See[ ]also|External[ ]links|References|Further[ ]reading|Notes|Bibliography"
    r"|参见|參見|参考文献|參考文獻|参考资料|外部链接|外部連結|延伸阅读|注释)\n+)"
    r"((?:[ ]*-[ ].*(?:\n|\Z))+)",
    re.MULTILINE | re.IGNORECASE,
)
_ITEMS = re.compile(r"^( *- )(.+)$", re.MULTILINE)
_LONGEST_VALUE = 60  # characters
_DEEPEST = 12  # markup nested more deeply is dropped


def categories(markup: str) -> list[str]:
    """Return the categories of a page."""
    return [name.strip() for name in _CATEGORY.findall(markup)]


def plain_text(markup: str) -> str:
    """Return the text of a page without layout, notes and pictures, but with their captions.

    An infobox becomes lines of `name: value`, a table becomes Markdown rows.
    """
    import mwparserfromhell

    text = _speak(mwparserfromhell.parse(markup, skip_style_tags=True), 0)
    text = re.sub(r"'{2,5}", "", html.unescape(text))
    text = re.sub(r"__[A-Z]{3,20}__", "", text)
    text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)
    # Marks of headings are zero bytes for now, so that they do not become list items.
    text = re.sub(r"(?m)^\x01(\d) ", lambda mark: "\x00" * int(mark[1]) + " ", text)
    text = _DEFINED.sub(r"* \1: ", text)
    text = _ITEM.sub(lambda marks: "  " * min(len(marks[1]) - 1, _DEEPEST) + "- ", text)
    text = _EMPTY_BRACKETS.sub("", text).replace("\x00", "#")
    text = _GAPS.sub("\n\n", text).strip()
    return _LINKS.sub(lambda part: part[1] + _ITEMS.sub(r"\1[\2](#)", part[2]), text)


def _speak(code: Any, depth: int) -> str:
    if code is None or depth > _DEEPEST:
        return ""
    spoken, is_whole = "", sum(bool(str(node).strip()) for node in code.nodes) == 1
    for node in code.nodes:
        if type(node).__name__ == "Template":
            is_needed = is_whole or _GOES_ON.match(spoken[-2:]) is not None
            spoken += _speak_template(node, depth, is_needed=is_needed)
        else:
            spoken += _speak_node(node, depth, starts_line=spoken[-1:] in ("", "\n"))
    return spoken


def _caption(link: Any, depth: int) -> str:
    """Return the caption below a picture that a link shows, as a paragraph."""
    options, _, caption = f"|{_speak(link.text, depth + 1)}".rpartition("|")
    return f"\n{caption}\n\n" if _FRAMED.search(f"{options}|") and " " in caption.strip() else ""


def _speak_node(node: Any, depth: int, *, starts_line: bool) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "Wikilink":
        target = str(node.title)
        if UNSEEN_LINKS.match(target):
            return _caption(node, depth) if starts_line else ""
        return _speak(node.text if node.text is not None else node.title, depth + 1)
    if kind == "Heading":
        words = " ".join(_speak(node.title, depth + 1).split())
        return f"\n\n\x01{min(int(node.level), 6)} {words}\n\n"
    if kind == "ExternalLink":
        return _speak(node.title, depth + 1)
    if kind == "HTMLEntity":
        return str(node.normalize())
    if kind == "Tag":
        return _speak_tag(node, depth)
    return ""


def _speak_tag(node: Any, depth: int) -> str:
    tag = str(node.tag).strip().lower()
    if tag in _DROPPED_TAGS:
        return ""
    if tag == "gallery":
        captions = (line.partition("|")[2].strip() for line in str(node.contents).split("\n"))
        return "".join(f"\n* {one_line(plain_text(words))}" for words in captions if words) + "\n"
    if tag == "table":
        return _speak_table(node, depth)
    if tag == "br":
        return "\n"
    if node.wiki_markup and tag in ("li", "dt", "dd"):
        return str(node.wiki_markup)
    if "display:none" in str(node).split(">", 1)[0].replace(" ", "").lower():
        return ""
    return _speak(node.contents, depth + 1)


def _speak_template(node: Any, depth: int, *, is_needed: bool) -> str:
    """Return the words that a template shows; of an unknown one its only words, if needed."""
    name = " ".join(str(node.name).replace("_", " ").split()).lower()
    values = [_speak(p.value, depth + 1).strip() for p in node.params if not p.showkey]
    if name.startswith(("infobox", "taxobox")):
        return _speak_box(node, depth)
    if name.startswith("formatnum:"):
        return name.partition(":")[2]
    if name in ("convert", "cvt") and len(values) >= 2:
        return f"{values[0]} {values[1]}"
    if _DATED.match(name):
        return "-".join(f"{value:0>2}" for value in values[:3] if value.isdecimal())
    if name.startswith("lang-") and values:
        return values[0]
    if name in _SPOKEN:
        place = _SPOKEN[name]
        return values[place] if place is not None and values else ""
    is_one = is_needed and len(values) == len(node.params) == 1
    return values[0] if is_one and len(values[0]) <= _LONGEST_VALUE else ""


def _speak_box(node: Any, depth: int) -> str:
    lines = []
    for parameter in node.params:
        value = " ".join(_speak(parameter.value, depth + 1).split())
        name = " ".join(str(parameter.name).replace("_", " ").split())
        shown = parameter.showkey and not name.startswith(("image", "map"))
        if shown and value and len(value) < 300:
            lines.append(f"{name}: {value}")
    return "\n" + "\n".join(lines) + "\n\n" if lines else ""


def _speak_table(node: Any, depth: int) -> str:
    rows: list[list[Cell]] = [[]]
    caption = ""
    for part in node.contents.nodes if node.contents is not None else []:
        tag = str(getattr(part, "tag", "")).strip().lower()
        cells = part.contents.nodes if tag == "tr" else [part]
        if tag == "tr":
            rows.append([])
        for cell in cells:
            name = str(getattr(cell, "tag", "")).strip().lower()
            if name in ("td", "th"):
                words = one_line(_speak(cell.contents, depth + 1))
                if name == "td" and words.startswith("+"):
                    caption = words[1:]
                else:
                    spans = (_span(cell, "colspan"), _span(cell, "rowspan"))
                    rows[-1].append(Cell(words, name == "th", *spans))
    return f"\n\n{table(rows, caption)}\n\n"


def _span(cell: Any, name: str) -> int:
    value = str(cell.get(name).value).strip() if cell.has(name) else ""
    return int(value) if re.fullmatch(r"[0-9]{1,3}", value) else 1
