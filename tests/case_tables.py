"""Tables of cases, written as text: a row a case, its cells between bars."""


def cases(table: str) -> list[tuple[str, ...]]:
    """Return the cells of each row; a row goes on in lines that begin with a bar.

    Lines that begin with # say what the cases below them have in common.
    """
    rows: list[str] = []
    for line in map(str.strip, table.strip().splitlines()):
        if line.startswith("|"):
            rows[-1] += f" {line}"
        elif line and not line.startswith("#"):
            rows.append(line)
    return [tuple(cell.strip() for cell in f"{row} ".split(" | ")) for row in rows]


def cases_of_facts(table: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the first cell of each row, and the other cells as a tuple."""
    return [(text, tuple(fact)) for text, *fact in cases(table)]
