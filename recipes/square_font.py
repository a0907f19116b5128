"""The font of squares with which PDFs are read: `python -m recipes.square_font` writes it.

Its one glyph stands for all characters (OpenType 1.9, cmap format 13), in 340 bytes.
"""

from pathlib import Path
from struct import pack

from recipes.command import parser_of, run_command

PLACE = Path(__file__).parents[1] / "tasks" / "ingest" / "formats" / "squares.ttf"


def square_font() -> bytes:
    """Return the font as a TrueType file."""
    corners = (0, 0, 1000, 0, 0, 1000, 0, -1000)  # steps to the right, then upwards
    square = pack(">5h2H4B8hxx", 1, 0, 0, 1000, 1000, 3, 0, 1, 1, 1, 1, *corners)
    all_characters = pack(">2H6I", 13, 0, 28, 0, 1, 0, 0x10FFFF, 1)  # many to one
    head = (0x10000, 0, 0, 0x5F0F3CF5, 0, 1000, 0, 0, 0, 0, 1000, 1000, 0, 8, 2, 0, 0)
    tables = {
        b"cmap": pack(">4HI", 0, 1, 3, 10, 12) + all_characters,
        b"glyf": square,
        b"head": pack(">4I2H2Q4h2H3h", *head),
        b"hhea": pack(">I3hH11hH", 0x10000, 1000, 0, 0, 1000, 0, 0, 1000, 1, *[0] * 7, 1),
        b"hmtx": pack(">H2h", 1000, 0, 0),
        b"loca": pack(">3H", 0, 0, len(square) // 2),
        b"maxp": pack(">I14H", 0x10000, 2, 4, 1, 0, 0, 1, *[0] * 8),
    }
    listed, body = pack(">I4H", 0x10000, len(tables), 64, 2, 16 * len(tables) - 64), b""
    start = len(listed) + 16 * len(tables)
    for tag, data in tables.items():
        listed += pack(">4s3I", tag, 0, start + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    return listed + body


def main() -> None:
    """Write the font."""
    parser_of(__doc__).parse_args()
    PLACE.write_bytes(square_font())


if __name__ == "__main__":
    run_command(main)
