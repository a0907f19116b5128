"""What is drawn on a PDF page: its pictures, and the letters that its readers do not see."""

import ctypes
from collections import Counter
from itertools import accumulate, product
from typing import Any

import pypdfium2.raw as pdfium

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points

_LIGHT = 240  # of 255, in each channel: letters that may stand on white
_INK = 224  # a channel below it makes light letters visible
_PIXELS = 800  # of the longer side of a page that is looked at
_DEEPEST = 8  # forms within forms
_NEAR = 1.2  # points between the starts of texts that may be drawn on each other
_SAME_PLACE = 0.08  # of a letter's height; double letters are three times as far apart
_AROUND = tuple(product((-1, 0, 1), repeat=2))
_EVERYWHERE = (-1e30, -1e30, 1e30, 1e30)


class DrawnPage:
    """The texts and pictures of a page, those in its forms included.

    Nearly all pages show all of their letters, so letters are looked at one by one only if one of
    the fewer objects that draw them is doubtful.
    """

    def __init__(self, page: Any, words: Any) -> None:
        """Look through the objects of a page that has these words."""
        self._page, self._words, self._box = page, words.raw, page.get_bbox()
        self._characters = range(words.count_chars())
        self._pictures: list[Box] = []
        self._invisible: set[int] = set()  # texts, by their addresses
        self._light: set[int] = set()
        self._starts: list[tuple[float, float, Any]] = []
        self.objects = int(pdfium.FPDFPage_CountObjects(page))
        for n in range(self.objects):
            drawn = pdfium.FPDFPage_GetObject(page, n)
            if self._has_picture(drawn, 0):
                sides = [ctypes.c_float() for _ in range(4)]
                pdfium.FPDFPageObj_GetBounds(drawn, *sides)
                left, bottom, right, top = (side.value for side in sides)
                self._pictures.append((left, bottom, right, top))

    def share_of_pictures(self) -> float:
        """Return how much of the page pictures cover, 0 to 1 or more where several overlap."""
        left, bottom, right, top = self._box
        covered = 0.0
        for a, b, c, d in self._pictures:
            covered += max(min(c, right) - max(a, left), 0) * max(min(d, top) - max(b, bottom), 0)
        return covered / max((right - left) * (top - bottom), 1.0)

    def unseen_places(self, text: str) -> frozenset[int]:
        """Return the places in the page's text of the letters that its readers do not see.

        These are letters that are drawn invisibly, unless they are the text of a scanned page
        behind its picture; light letters on light ground, or letters outside the page; and what
        is drawn again at the same place, as bold letters often are.
        """
        unseen, near = self._outside(), self._near_each_other()
        if near or self._invisible or self._light:
            drawn = ((n, pdfium.FPDFText_GetTextObject(self._words, n)) for n in self._characters)
            letters = [(n, _address(text)) for n, text in drawn if text and n not in unseen]
            unseen |= self._invisible_letters([n for n, text in letters if text in self._invisible])
            unseen |= self._without_ink([one for one in letters if one[1] in self._light])
            bold = [(n, text) for n, text in letters if text in near and n not in unseen]
            unseen |= self._drawn_again(bold)
        if not unseen:
            return frozenset()
        units = {pdfium.FPDFText_GetTextIndexFromCharIndex(self._words, n) for n in unseen}
        starts = accumulate((1 + (character > "\uffff") for character in text), initial=0)
        return frozenset(place for place, unit in enumerate(starts) if unit in units)

    def _has_picture(self, drawn: Any, depth: int) -> bool:
        """Note the texts of an object; tell whether it is a picture or a form with one."""
        mode = pdfium.FPDFTextObj_GetTextRenderMode(drawn)
        if mode != pdfium.FPDF_TEXTRENDERMODE_UNKNOWN:
            self._note_text(drawn, mode)
            return False
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind != pdfium.FPDF_PAGEOBJ_FORM or depth == _DEEPEST:
            return bool(kind == pdfium.FPDF_PAGEOBJ_IMAGE)
        parts = range(pdfium.FPDFFormObj_CountObjects(drawn))
        inner = (pdfium.FPDFFormObj_GetObject(drawn, n) for n in parts)
        return any([self._has_picture(part, depth + 1) for part in inner])

    def _note_text(self, text: Any, mode: int) -> None:
        colour, matrix = [ctypes.c_uint() for _ in range(4)], pdfium.FS_MATRIX()
        has_colour = pdfium.FPDFPageObj_GetFillColor(text, *colour)  # else a pattern
        *channels, opacity = (channel.value for channel in colour)
        if mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE or (has_colour and not opacity):
            self._invisible.add(_address(text))
        elif mode == pdfium.FPDF_TEXTRENDERMODE_FILL and min(channels) >= _LIGHT:
            self._light.add(_address(text))
        pdfium.FPDFPageObj_GetMatrix(text, matrix)
        self._starts.append((matrix.e, matrix.f, text))

    def _near_each_other(self) -> set[int]:
        """Return the texts that start in one square of a grid, wherever the grid begins."""
        near: set[int] = set()
        for right, up in product((0, _NEAR / 2), repeat=2):
            cells = [((x + right) // _NEAR, (y + up) // _NEAR) for x, y, _ in self._starts]
            if len(set(cells)) < len(cells):
                counts = Counter(cells)
                starts = zip(cells, self._starts, strict=True)
                near |= {_address(text) for cell, (_, _, text) in starts if counts[cell] > 1}
        return near

    def _outside(self) -> set[int]:
        """Return the letters outside the page's box."""
        inside, everywhere = (
            pdfium.FPDFText_GetBoundedText(self._words, left, top, right, bottom, None, 0)
            for left, bottom, right, top in (self._box, _EVERYWHERE)
        )
        is_box = self._box[0] < self._box[2] and self._box[1] < self._box[3]
        if inside == everywhere or not is_box:
            return set()
        return {n for n in self._characters if not _meet(self._place(n), self._box)}

    def _place(self, n: int) -> Box:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self._words, n, left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value

    def _invisible_letters(self, letters: list[int]) -> set[int]:
        """Return which letters that are drawn invisibly are no text of a scanned page."""
        if 2 * len(letters) <= len(self._characters):
            return set(letters)
        boxes = ((n, self._place(n)) for n in letters)
        return {n for n, box in boxes if not any(_meet(box, one) for one in self._pictures)}

    def _without_ink(self, letters: list[tuple[int, int]]) -> set[int]:
        """Return the letters of light texts around which the page, as drawn, is light as well."""
        if not letters:
            return set()
        bitmap = self._page.render(scale=_PIXELS / max(*self._page.get_size(), 1.0))
        picture, pixel_at = bitmap.to_numpy(), bitmap.get_posconv(self._page).to_bitmap
        seen = set()
        for n, text in letters:
            left, bottom, right, top = self._place(n)
            (a, b), (c, d) = pixel_at(left, bottom), pixel_at(right, top)
            rows, columns = sorted((max(b, 0), max(d, 0))), sorted((max(a, 0), max(c, 0)))
            around = picture[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1, :3]
            if around.size and around.min() <= _INK:
                seen.add(text)
        return {n for n, text in letters if text not in seen}

    def _drawn_again(self, letters: list[tuple[int, int]]) -> set[int]:
        """Return the letters that another text has at the same place, before them."""
        again: set[int] = set()
        known: dict[tuple[int, int, int], int] = {}
        box = pdfium.FS_RECTF()
        for n, text in letters:
            letter = pdfium.FPDFText_GetUnicode(self._words, n)
            pdfium.FPDFText_GetLooseCharBox(self._words, n, box)
            near = max(_SAME_PLACE * max(box.top - box.bottom, box.right - box.left), 0.01)
            column, line = round(box.left / near), round(box.bottom / near)
            around = [(letter, column + x, line + y) for x, y in _AROUND]
            if known.keys().isdisjoint(around) or all(
                known.get(one, text) == text for one in around
            ):
                known[letter, column, line] = text
            else:
                again.add(n)
        return again


def _meet(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _address(drawn: Any) -> int:
    return ctypes.cast(drawn, ctypes.c_void_p).value or 0
