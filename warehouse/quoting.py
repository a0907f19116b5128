"""Quote words and names for the few SQL statements that take no parameters."""


def quoted_text(words: str) -> str:
    """Return words as an SQL literal."""
    return "'" + words.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Return the name of a table or column as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
