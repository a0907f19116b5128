"""How many of a thing, in words."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with words that agree: "1 fact is", "1,200 facts are".

    Without words for `many`, an s is added to those for one.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
