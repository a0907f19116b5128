"""Wiki markup to text: headings and lists become Markdown, templates and references go."""

import html
import re
from typing import Any

_DROPPED_TAGS = frozenset(
    {"ref", "references", "gallery", "math", "timeline", "syntaxhighlight", "source", "score"}
    | {"imagemap", "templatedata", "style", "script"}
)
_DROPPED_LINKS = re.compile(
    r"^\s*:?(file|image|media|category|datei|bild|kategorie|fichier|catégorie|archivo|categoría"
    r"|文件|图像|檔案|分类|分類|ファイル|カテゴリ)\s*:",
    re.IGNORECASE,
)
_CATEGORY = re.compile(
    r"\[\[\s*(?:category|kategorie|catégorie|categoría|分类|分類|カテゴリ)\s*:([^\[\]|\n]{1,200})",
    re.IGNORECASE,
)
# Templates that stand for words in a sentence, and the argument that holds the words.
_SPOKEN = {
    "lang": -1, "transl": -1, "nowrap": 0, "nobr": 0, "small": 0, "abbr": 0, "ill": 0,
    "interlanguage link": 0, "as of": 0, "circa": 0, "c.": 0, "ipa": None,
}  # fmt: skip
_DATED = re.compile(r"^(birth|death|start|end|film|release)[ _\-](date|year)", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*[*#:;]+[ \t]*(?=\S)", re.MULTILINE)
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_EMPTY_BRACKETS = re.compile(r"[ \t]*[(（][\s,;，；]*[)）]")
_DEEPEST = 12  # markup nested more deeply is dropped


def categories(markup: str) -> list[str]:
    """Return the categories of a page."""
    return [name.strip() for name in _CATEGORY.findall(markup)]


def plain_text(markup: str) -> str:
    """Return the text of a page without layout, notes and pictures.

    An infobox becomes lines of `name: value`, a table becomes Markdown rows.
    """
    import mwparserfromhell

    text = _speak(mwparserfromhell.parse(markup, skip_style_tags=True), 0)
    text = re.sub(r"'{2,5}", "", html.unescape(text))
    text = re.sub(r"__[A-Z]{3,20}__", "", text)
    text = _EMPTY_BRACKETS.sub("", _ITEM.sub("- ", _hide_headings(text)))
    text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text.replace("\x00", "#"))
    return _GAPS.sub("\n\n", text).strip()


def _hide_headings(text: str) -> str:
    """Write heading marks as zero bytes for now, so that they do not become list items."""
    return re.sub(r"(?m)^\x01(\d) ", lambda mark: "\x00" * int(mark[1]) + " ", text)


def _speak(code: Any, depth: int) -> str:
    if code is None or depth > _DEEPEST:
        return ""
    return "".join(_speak_node(node, depth) for node in code.nodes)


def _speak_node(node: Any, depth: int) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "Wikilink":
        target = str(node.title)
        if _DROPPED_LINKS.match(target):
            return ""
        return _speak(node.text if node.text is not None else node.title, depth + 1)
    if kind == "Heading":
        words = " ".join(_speak(node.title, depth + 1).split())
        return f"\n\n\x01{min(int(node.level), 6)} {words}\n\n"
    if kind == "Template":
        return _speak_template(node, depth)
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
    if tag == "table":
        return _speak_table(node, depth)
    if tag == "br":
        return "\n"
    if node.wiki_markup and tag in ("li", "dt", "dd"):
        return str(node.wiki_markup)
    if "display:none" in str(node).split(">", 1)[0].replace(" ", "").lower():
        return ""
    return _speak(node.contents, depth + 1)


def _speak_template(node: Any, depth: int) -> str:
    name = " ".join(str(node.name).replace("_", " ").split()).lower()
    values = [_speak(p.value, depth + 1).strip() for p in node.params if not p.showkey]
    if name.startswith(("infobox", "taxobox")):
        return _speak_box(node, depth)
    if name in ("convert", "cvt") and len(values) >= 2:
        return f"{values[0]} {values[1]}"
    if _DATED.match(name):
        return "-".join(f"{value:0>2}" for value in values[:3] if value.isdecimal())
    if name.startswith("lang-") and values:
        return values[0]
    place = _SPOKEN.get(name)
    if place is not None and values:
        return values[place]
    return ""


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
    rows: list[list[str]] = [[]]
    for part in node.contents.nodes if node.contents is not None else []:
        tag = str(getattr(part, "tag", "")).strip().lower()
        if tag == "tr":
            rows.append(
                [
                    " ".join(_speak(cell.contents, depth + 1).split()).replace("|", "/")
                    for cell in part.contents.nodes
                    if str(getattr(cell, "tag", "")).strip().lower() in ("td", "th")
                ]
            )
        elif tag in ("td", "th"):
            rows[0].append(" ".join(_speak(part.contents, depth + 1).split()).replace("|", "/"))
    lines = [f"| {' | '.join(row)} |" for row in rows if any(row)]
    return "\n\n" + "\n".join(lines) + "\n\n"
