"""Extract the words of a block that readers see, without Markdown's marks and link targets."""

import re
from html import unescape

from tasks.text.excerpt import Excerpt

# What follows a link's label: its address, also with parentheses, or the name of one.
LINK_TARGET = r"\([^()\n]{0,1000}(?:\([^()\n]{0,200}\)[^()\n]{0,500}){0,6}\)|\[[^\]\n]{0,200}\]"
_BRACKETED = r"\[[^\[\]\n]{0,100}\](?![(\[])"  # within a label: "[rate(hits[5m])](…)"
_LINKS = re.compile(
    r"(?<![A-Za-z0-9_])(?P<code>(`{1,3})[^`\n]{1,300}\2)"  # which has no links
    rf"|!\[[^\]\n]{{0,500}}\](?:{LINK_TARGET})"  # an image
    r"|\[\^[^\]\s]{1,40}\]:?"  # a footnote's number
    rf"|\[(?P<label>[^\[\]]{{0,500}}(?:{_BRACKETED}[^\[\]]{{0,200}}){{0,3}})\](?:{LINK_TARGET})"
)
_INLINE = re.compile(
    r"<(?:https?|mailto):[^<>\s]{1,1000}>"
    # An address after "at", "为", "是", ":" or a quotation mark is what the sentence states.
    r"|(?<!\bat )(?<![为是:：] )(?<![:：])(?<![\"'“‘«「『])\bhttps?://"
    r"[^\s<>()\[\]\"“”«»\u3000-\u303f\uff00-\uffef]{1,1000}(?<![.,;:!?'’])"
    r"|(?<![A-Za-z0-9_])(?P<tick>`{1,3})(?P<code>[^`\n]{1,300})(?P=tick)"
    r"|(?<=[A-Za-z0-9_])`+(?![A-Za-z0-9_`])"  # closes a code span that begins before the text
    r"|<r[tp]>[^<>]{0,100}</r[tp]>"  # the pronunciation of a word
    r"|</?(?![bB][rR]\s*/?>\S)[A-Za-z][^<>]{0,500}>|<!--[^<]{0,2000}-->"
    r"|\{%[^{}\n]{0,500}%\}|\{\{[^{}\n]{0,500}\}\}"
    r"|\{:?[.#][^{}\n]{0,100}\}|\{:[ \t][^{}\n]{0,200}\}"  # classes and attributes of a block
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<=[^\s\\])\\(?=\n|\Z)"  # a line that ends within its paragraph
    r"|(?<![*\w])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![*\w])|\*\*(?=\S)|(?<=\S)\*\*"
    r"|(?<![_\w])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![_\w])|~~"
    r"|(?:\A|(?<=[-*+] ))\[[ xX]\](?=\s)"  # whether a task is done
    r"|(?<=\n)[ \t]*>[ \t]?"  # the mark of a quotation's further lines
    r"|(?<=\w)(?:[®™℠]|&(?:reg|trade);|\((?:R|TM)\))"  # trademark signs are no part of a name
    r"|(?<![\w:]):[a-z]+(?:[-_][a-z0-9]+)+:(?!\w)"  # an icon by its name
    r"|^(?::{3,}|[!?]{3}\+? |\.\. [\w-]{1,30}::)[^\n]{0,100}$\n?",  # where a box begins or ends
    re.DOTALL | re.MULTILINE,
)
CHARACTER = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_SHOWN = re.compile(rf"<[bB][rR]\s*/?>|{CHARACTER.pattern}")  # a line ends between words
# One of these is in everything that `_LINKS`, `_INLINE` and `CHARACTER` match.
_MARK = re.compile(r"[\[<>`{\\*_~&:(!?®™℠]")
_DEEPEST = 3  # links in the labels of links, such as pictures


def words_of(block: str) -> Excerpt:
    """Return a block's words; the text of a link is kept, its target is dropped.

    Code inside a sentence is kept, as it names what the sentence is about.
    """
    excerpt = Excerpt.whole(block)
    if not _MARK.search(block):
        return excerpt
    for _ in range(_DEEPEST):
        if "[" in excerpt.text:
            excerpt = excerpt.replaced(_LINKS, _kept)
    excerpt = excerpt.replaced(_INLINE, _kept)
    return excerpt.inserted(_SHOWN, lambda sign: " " if sign[0][0] == "<" else unescape(sign[0]))


def line_of_words(block: str) -> str:
    """Return a block's words on one line, as those of a heading or title."""
    return " ".join(words_of(block).text.split())


def _kept(match: re.Match[str]) -> list[tuple[int, int]]:
    return [
        match.span(name) for name, words in match.groupdict().items() if words and name != "tick"
    ]
