"""Letters in fonts of symbols as Unicode: Adobe's Symbol encoding, Wingdings and its kin."""

_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾"
    "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
    + 33
    * " "
    + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|−↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊〈®©™∑((([[[{{{| 〉∫⌠|⌡)))]]]}}}"
)
_WINGDINGS = (
    "(☎)✆*✉E☜F☞J☺L☹l●n■o□p□q❑r❒u◆v❖w◆x☒\x81①\x82②\x83③\x84④\x85⑤\x86⑥\x87⑦\x88⑧\x89⑨\x8a⑩\x8c❶\x8d❷"
    "\x8e❸\x8f❹\x90❺\x91❻\x92❼\x93❽\x94❾\x95❿\x9f•\xa1○\xa7▪\xa8□\xab★\xd8➢\xdf←\xe0→\xe1↑\xe2↓\xe8➔"
    "\xef⇦\xf0⇨\xf1⇧\xf2⇩\xf3⇔\xfb✗\xfc✓\xfd☒\xfe☑"
)
_FONTS = {  # by the start of a font's name in small letters
    "symbol": dict(zip(map(chr, range(0x20, 0xFF)), _SYMBOL, strict=False)),
    "wingdings 2": dict(zip("OPRST\xa3", "✗✓☑☒☒□", strict=True)),
    "wingdings": dict(zip(_WINGDINGS[::2], _WINGDINGS[1::2], strict=True)),
}
_PRIVATE = 0xF000  # where Word stores the letters of such fonts


def in_unicode(words: str, font: str, private_font: str = "") -> str:
    """Return words that are set in a font of symbols as Unicode, and other words as they are.

    Letters of private use may be in a font of their own. A symbol that Unicode lacks is left out.
    """
    plain = _letters(font)
    private = _letters(private_font) or plain
    if private is None or not words:
        return words
    return "".join(
        private.get(chr(ord(letter) - _PRIVATE), "")
        if _PRIVATE <= ord(letter) < _PRIVATE + 0x100
        else letter
        if plain is None
        else plain.get(letter, letter)
        for letter in words
    )


def _letters(font: str) -> dict[str, str] | None:
    name = font.lower()
    return next((letters for start, letters in _FONTS.items() if name.startswith(start)), None)
