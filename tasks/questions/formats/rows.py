"""Read the items of a data set's files: JSON, JSON lines, tables or Parquet."""

import ast
import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError
from tasks.questions.files import MOST_CHARACTERS, lines, part_of, plain_name, question_files
from tasks.questions.question import Benchmark, BenchmarkQuestion, Part

_PARTS = r"(train|dev|test|valid|validation|val)\b"
_FORMS = ("jsonl", "json", "parquet", "csv", "tsv", "txt")
_ENDINGS = rf"\.({'|'.join(_FORMS)})$"
_NAME = re.compile(rf"(.+){_ENDINGS}", re.IGNORECASE)
LONGEST_LIST = 200_000  # characters
_BATCH = 1024
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One item of a file of a data set: its fields and its place.

    `group` is the name of the list that holds it, with a slash if that list is itself in an object,
    and `key` its own name there; both are empty if the file has none.
    """

    file: Path
    place: str
    number: int
    values: dict[str, Any]
    group: str = ""
    key: str = ""
    dataset: str = ""

    def __getitem__(self, name: str) -> Any:
        """Return a field; raises KeyError if there is none."""
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default if it is missing or None."""
        value = self.values.get(name)
        return default if value is None else value

    @property
    def part(self) -> Part:
        """The part, from the list's name or the file's name."""
        return part_of(Path(self.group)) or part_of(self.file)

    def of(self, dataset: str) -> "BenchmarkItem":
        """Return the item as one of a data set."""
        return replace(self, dataset=dataset)

    def id(self, *names: str) -> str:
        """Return the question's id: the first of the named fields, else its number in the file."""
        own = next((self.values[n] for n in names if self.values.get(n) not in (None, "")), "")
        return f"{self.dataset}/{own or self.key or f'{_stem(self.file)}/{self.number}'}"

    def question(self, question: Any, answers: tuple[str, ...], **others: Any) -> BenchmarkQuestion:
        """Return a question of the data set; `others` are further fields, or replace these.

        Raises ValueError if the question is empty or no text.
        """
        fields: dict[str, Any] = {
            "id": self.id("id"),
            "dataset": self.dataset,
            "part": self.part,
            "scoring": "choice" if others.get("choices") else "text",
        }
        return BenchmarkQuestion(
            question=text(question), answers=answers, task=self.dataset, **(fields | others)
        )


READERS: dict[str, Callable[[Path], Benchmark]] = {}  # by data set, filled by `reader`
Columns = Mapping[int, Sequence[str]]
MakeQuestion = Callable[[BenchmarkItem], BenchmarkQuestion | None]


def reader(
    dataset: str, fields: str, names: str = "", columns: Columns | None = None
) -> Callable[[MakeQuestion], Callable[[Path], Benchmark]]:
    """Return a decorator that turns a function from an item to its question into a reader of files.

    The reader is found by the data set's name in `READERS`.

    The function returns None for an item to skip. `fields` describes what an item needs, for
    messages. In a folder, files are read whose name contains `names` (a regular expression, by
    default the data set's name) or begins with the name of a part; of files that differ only in
    their ending, one is read. `columns` names the columns of tables without a header, by their
    number. The reader raises AlmanacError for an item that the function cannot read.
    """
    pattern = rf"(?i)(^|/)([^/]*({names or dataset})[^/]*|{_PARTS}[^/]*){_ENDINGS}"

    def decorate(make: MakeQuestion) -> Callable[[Path], Benchmark]:
        def read(path: Path) -> Benchmark:
            questions = []
            for file in _in_one_form(question_files(path, pattern)):
                for item in _items(file, columns or {}):
                    try:
                        question = make(item.of(dataset))
                        if question is not None:
                            questions.append(_checked(question))
                    except _UNREADABLE as error:
                        raise AlmanacError(
                            f"{item.place}: an item of {dataset} needs {fields}."
                        ) from error
            return Benchmark(dataset, questions)

        READERS[dataset] = read
        return read

    return decorate


def text(value: Any) -> str:
    """Return a stripped text; raises ValueError if it is empty or no text."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no text")
    return value.strip()


def texts(values: Any) -> tuple[str, ...]:
    """Return the distinct texts of a list; raises ValueError if there are none."""
    if isinstance(values, str):
        values = [values]
    distinct = tuple(dict.fromkeys(text(str(value)) for value in values))
    if not distinct:
        raise ValueError("no texts")
    return distinct


def listed(value: Any) -> Any:
    """Return the list that a text holds as JSON or Python literals, else the value itself."""
    if not isinstance(value, str) or not value.startswith("[") or not value.endswith("]"):
        return value
    if len(value) > LONGEST_LIST:
        raise ValueError("the list is too long")
    for parse in (json.loads, ast.literal_eval):
        try:
            parsed = parse(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return parsed if isinstance(parsed, list) else value
    return value


def _checked(question: BenchmarkQuestion) -> BenchmarkQuestion:
    """Return the question; raises ValueError if a field that must be text is not."""
    fields = [question.id, question.question, question.dataset, question.kind, question.split_key]
    fields += [*question.answers, *question.choices, *question.gold]
    optional = (question.topic, question.label, question.knowledge, question.task)
    if not all(isinstance(field, str) for field in (*fields, *filter(None, optional))):
        raise ValueError("not a text")
    return question


def _stem(file: Path) -> str:
    named = _NAME.fullmatch(plain_name(file))
    return named[1] if named else file.name


def _form(file: Path) -> str:
    """Return the ending of a file's name; unknown endings mean JSON lines."""
    named = _NAME.fullmatch(plain_name(file))
    return named[2].lower() if named else _FORMS[0]


def _in_one_form(files: Sequence[Path]) -> list[Path]:
    """Return the files without those that only repeat another in a different form."""
    best: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: _FORMS.index(_form(file))):
        best.setdefault(file.with_name(_stem(file)), file)
    return [file for file in files if best[file.with_name(_stem(file))] == file]


def _items(file: Path, columns: Columns) -> Iterator[BenchmarkItem]:
    form = _form(file)
    if form == "txt":
        form = "jsonl" if next(lines(file), "").startswith("{") else "tsv"
    if form == "parquet":
        yield from _of_parquet(file)
    elif form in ("tsv", "csv"):
        yield from _of_table(file, columns)
    elif form == "json":
        yield from _of_json(file)
    else:
        yield from _of_json_lines(file, lines(file))


def _of_json_lines(file: Path, rows: Iterator[str]) -> Iterator[BenchmarkItem]:
    for number, line in enumerate(rows, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise AlmanacError(f"{file}, line {number}: each line must be one JSON object.")
        yield BenchmarkItem(file, f"{file}, line {number}", number, row)


def _of_json(file: Path) -> Iterator[BenchmarkItem]:
    """Yield the objects in a list, in an object's lists, or in an object by name.

    A `.json` file may also hold JSON lines.
    """
    rows = list(lines(file))
    try:
        whole = json.loads("\n".join(rows))
    except (ValueError, RecursionError) as error:
        if rows and rows[0].lstrip().startswith("{") and rows[0].rstrip().endswith("}"):
            yield from _of_json_lines(file, iter(rows))
            return
        raise AlmanacError(f"{file} is not JSON: {error}.") from error
    groups = {"": whole}
    if isinstance(whole, dict):
        groups = {name: group for name, group in whole.items() if not _is_list_of_texts(group)}
        if not any(isinstance(group, (dict, list)) for group in groups.values()):
            groups = {"": [whole]}
    members = (member for name, group in groups.items() for member in _members(str(name), group))
    for number, (group, key, row) in enumerate(members, 1):
        if not isinstance(row, dict):
            raise AlmanacError(f"{file}, item {number}: each item must be a JSON object.")
        yield BenchmarkItem(file, f"{file}, item {number}", number, row, group, key)


def _is_list_of_texts(group: Any) -> bool:
    """Return whether a value is a list of texts, which describes the file (its classes, say)."""
    return isinstance(group, list) and bool(group) and all(isinstance(v, str) for v in group)


def _members(name: str, group: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield group, key and value of the members of a list or an object."""
    if isinstance(group, list):
        yield from ((name, "", row) for row in group)
    elif isinstance(group, dict):
        for key, row in group.items():
            if isinstance(row, dict):
                yield name, str(key), row
            elif isinstance(row, list):
                yield from ((f"{name}/{key}", "", item) for item in row if isinstance(item, dict))


def _of_table(file: Path, columns: Columns) -> Iterator[BenchmarkItem]:
    """Yield the rows of a table; its first row is the header if no columns are known.

    A table is separated by tabs if its first line has any, even in a file named `.csv`.
    """
    tabs = "\t" in next(lines(file), "")
    names: Sequence[str] = ()
    for number, row in enumerate(_tab_rows(file) if tabs else _comma_rows(file), 1):
        if number == 1:
            known = columns.get(len(row), ())
            names = known or [value.strip().lstrip("\ufeff") for value in row]
            first = row[0].strip().lstrip("\ufeff").casefold()
            if not known or first == known[0].casefold():  # a header all the same
                continue
        if any(value.strip() for value in row):
            values = dict(zip(names, row, strict=False))
            yield BenchmarkItem(file, f"{file}, line {number}", number, values)


def _tab_rows(file: Path) -> Iterator[list[str]]:
    return ([_unquoted(value) for value in line.split("\t")] for line in lines(file))


def _comma_rows(file: Path) -> Iterator[list[str]]:
    try:
        yield from csv.reader(f"{line}\n" for line in lines(file))
    except csv.Error as error:
        raise AlmanacError(f"{file} is not a table with commas: {error}.") from error


def _unquoted(value: str) -> str:
    """Remove the quotes around a field, as spreadsheets write them."""
    inner = value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return value


def _of_parquet(file: Path) -> Iterator[BenchmarkItem]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as table:
            groups = range(table.metadata.num_row_groups)
            size = sum(table.metadata.row_group(n).total_byte_size for n in groups)
            if size > MOST_CHARACTERS:
                raise AlmanacError(f"{file} is too large for a file of questions.")
            number = 0
            for batch in table.iter_batches(_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield BenchmarkItem(file, f"{file}, item {number}", number, row)
    except (pa.ArrowException, OSError) as error:
        raise AlmanacError(f"{file} is broken or not a Parquet file: {error}.") from error
