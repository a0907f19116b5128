"""A command line made from the models of its commands; only the one that is called is loaded.

A field with an `Option` is an option or an operand of its command. Every other field, each setting
of the home, and each field of a plan within the model is reached by `--set NAME=VALUE`.
"""

import argparse
import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args, get_origin

from flows.retired import RENAMED, rewritten

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from flows.jobs import Command, Option

PATHS = ("home", "examples", "sources")  # may be any bytes, as file names are
NEAR = 8  # names that an error lists
_UNKNOWN = re.compile(r"argument (COMMAND|ACTION): invalid choice: '(.*)' \(choose from (.*)\)")


@dataclass(frozen=True)
class Entry:
    """A value that a command line can give: where it goes, and its option if it has one."""

    path: tuple[str, ...]
    field: "FieldInfo"
    option: "Option | None"
    sets: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Its name for `--set`: of a plan's field, the field's alone; of a setting, the path."""
        return ".".join(self.path[1:]) if len(self.path) > 1 else self.path[0]

    @property
    def flag(self) -> str:
        """Its first option."""
        prefix = "--no-" if self.field.default is True else "--"
        return (self.option and self.option.name) or prefix + self.path[-1].replace("_", "-")

    @property
    def help(self) -> str:
        """The field's description, with its default if it has one that tells something."""
        words, default = (self.field.description or "").removesuffix("."), self.field.default
        is_shown = isinstance(default, str | int | float) and default is not False and default != ""
        if not is_shown or (default is True and self.option):  # a switch that turns it off
            return words
        return f"{words} ({default})"

    @property
    def kind(self) -> Any:
        """The type of its value, or of each value of a list."""
        return _kind(self.field.annotation)

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        kinds = (self.field.annotation, *get_args(self.field.annotation))
        return any(get_origin(kind) in (list, tuple) for kind in kinds)


def _kind(annotation: Any) -> Any:
    """Return the type within optional and list types."""
    if get_origin(annotation) is Literal or not get_args(annotation):
        return annotation
    inner = [kind for kind in get_args(annotation) if kind not in (type(None), ...)]
    return _kind(inner[0])


def entries(model: "type[Command]") -> Iterator[Entry]:
    """Yield everything that the command line of a model can give."""
    from pydantic import BaseModel

    from flows.jobs import Option

    shortcuts = {cut.path: (flag, cut) for flag, cut in model.shortcuts.items()}

    def inner(part: "type[BaseModel]", path: tuple[str, ...]) -> Iterator[Entry]:
        for name, field in part.model_fields.items():
            kind = _kind(field.annotation)
            if name in ("home", "ontology"):
                continue
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from inner(kind, (*path, name))
                continue
            extra: Any = field.json_schema_extra
            option = extra.get("option") if isinstance(extra, dict) else None
            flag, cut = shortcuts.get(".".join((*path, name)), (None, None))
            if cut:
                option = Option(cut.metavar, flag)
            yield Entry((*path, name), field, option, cut.sets if cut else ())

    yield from inner(model, ())


class NearParser(argparse.ArgumentParser):
    """A parser that answers an unknown command or action by the name that is nearest."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and leave with exit code 2."""
        wrong = _UNKNOWN.match(message)
        if wrong:
            near = difflib.get_close_matches(wrong[2], re.findall(r"[\w-]+", wrong[3]), 1)
            meant = f"did you mean {near[0]}?" if near else f"`{self.prog} --help` lists them"
            message = f"there is no {wrong[1].lower()} {wrong[2]!r}; {meant}"
        super().error(message)


class CommandParser(NearParser):
    """The parser of a command; its options are added when it is called, or for completion."""

    def __init__(self, *, command: str = "", model: "type[Command] | None" = None, **rest: Any):
        super().__init__(**rest, allow_abbrev=False)
        add_shared_options(self, hidden=True)
        self.command, self.model = command, model
        self.actions: dict[str, CommandParser] = {}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the options, then parse; what no option understands is refused here."""
        self.fill()
        words = rewritten(args, self._written_now) if self.model else args
        if self.model and ("--set", "help") in pairwise(words):  # for which nothing is required
            return argparse.Namespace(command_model=self.model, parser=self, set=["help"]), []
        found, left = super().parse_known_args(words, namespace)
        if left and not self.actions:
            self.error(f"unrecognized arguments: {' '.join(left)}{self._meant(left[0])}")
        return found, left

    def fill(self) -> None:
        """Load the command and add its options, or its actions with theirs."""
        if self.model is None:
            module = import_module(f".commands.{self.command.replace('-', '_')}", __package__)
            command = module.COMMAND
            if isinstance(command, dict):
                self._add_actions(command)
                return
            self.model = command
        if self.get_default("command_model") is None:
            self.set_defaults(command_model=self.model, parser=self)
            add_options(self, self.model)

    def _add_actions(self, actions: "dict[str, type[Command]]") -> None:
        self.set_defaults(command_model=next(iter(actions.values())), parser=self)
        if self.actions:
            return
        parsers = self.add_subparsers(metavar="ACTION", parser_class=CommandParser)
        for name, model in actions.items():
            self.actions[name] = parsers.add_parser(
                name,
                command=f"{self.command} {name}",
                model=model,
                help=first_line(model),
                description=first_line(model),
            )

    def _written_now(self, option: str) -> Sequence[str]:
        """Return what to `--set` instead of an option that was replaced; nothing for others."""
        if self.model is None or option in self._option_string_actions:
            return ()
        keys = {entry.key: entry for entry in entries(self.model)}
        renamed = RENAMED.get(option, ())
        if renamed and renamed[-1].partition("=")[0] in keys:
            return renamed
        name = option[2:].replace("-", "_")
        if name not in keys or keys[name].option:
            return ()
        return (f"{name}={'true' if keys[name].kind is bool else ''}",)

    def _meant(self, option: str) -> str:
        """Return what was probably meant by an unknown option."""
        near = difflib.get_close_matches(option, self._option_string_actions, 1)
        return f"; did you mean {near[0]}?" if near else ""


def first_line(model: type) -> str:
    """Return the first line of a docstring."""
    return (model.__doc__ or "").partition("\n")[0]


def add_shared_options(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    """Add the options that may stand before or after each command; commands do not list them."""

    def add(*names: str, help: str, **how: Any) -> None:
        how["default"] = argparse.SUPPRESS
        parser.add_argument(*names, help=argparse.SUPPRESS if hidden else help, **how)

    where = "the almanac's folder (ALMANAC_HOME, else ./almanac-home; of demo ./demo-home)"
    add("--home", metavar="DIR", help=where)
    only_json = "print one JSON value and nothing else; on failure, nothing"
    add("--json", action="store_true", help=only_json)
    add("--debug", action="store_true", help="show where an error comes from")
    add(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        dest="set" if hidden else "set_before",
        help="change a setting or a finer option for this call; may be repeated; `almanac COMMAND "
        "--set help` lists them all",
    )
    add(
        "--prefect",
        action="store_true",
        help="run a job as a Prefect flow; starts a temporary server unless PREFECT_API_URL names "
        "one",
    )


def add_options(parser: argparse.ArgumentParser, model: "type[Command]") -> None:
    """Add the options and operands of a command to its parser."""
    finer = []
    for entry in entries(model):
        if entry.option is None:
            finer += [] if entry.path[0] == "settings" else [entry.key]
            continue
        kind, how = entry.kind, dict[str, Any](help=entry.help.replace("%", "%%"))
        if kind is bool:
            how["action"] = "store_false" if entry.field.default is True else "store_true"
        elif get_origin(kind) is Literal:
            how["choices"] = get_args(kind)
        else:
            how["metavar"] = entry.option.metavar or entry.path[-1].upper()
        if entry.option.operand:
            required = entry.field.is_required()
            nargs = ("+" if required else "*") if entry.is_list else (None if required else "?")
            parser.add_argument(entry.path[-1], nargs=nargs, default=argparse.SUPPRESS, **how)
            continue
        if entry.is_list:
            how["action"] = "append"
        how |= {"dest": ".".join(entry.path), "default": argparse.SUPPRESS}
        required = entry.field.is_required() and kind is not bool
        short = [name for name in entry.option.also if not name.startswith("--")]
        parser.add_argument(*short, entry.flag, required=required, **how)
        for name in set(entry.option.also) - set(short):  # an earlier name, which nothing lists
            parser.add_argument(name, **how | {"help": argparse.SUPPRESS})
    notes = [f"Finer options, as --set NAME=VALUE: {', '.join(finer)}."] if finer else []
    if "settings" in model.model_fields:
        notes.append(f"--set NAME=VALUE {'also ' if finer else ''}changes a setting.")
    if notes:
        notes.append("`--set help` explains them.")
    notes.append("`almanac --help` lists the options of every command, such as --home and --json.")
    parser.epilog = " ".join(notes)


def command_of(arguments: argparse.Namespace) -> "Command":
    """Return the validated command that a command line calls, with all that it was given.

    Leaves with exit code 2 and the usage if a value is invalid, and with 0 after `--set help`.
    """
    from pydantic import ValidationError

    from flows.home import home_in, reading_settings_of
    from schemas.errors import UsageError
    from schemas.settings import changed_settings

    model, parser = arguments.command_model, arguments.parser
    _refuse_broken_text(arguments)
    known = list(entries(model))
    values: dict[str, Any] = {"home": model.home_folder(arguments.home)}
    settings: dict[str, Any] = {}
    given: dict[str, str] = {}
    for flag, entry, value in (*_options(arguments, known), *_sets(arguments, known, parser)):
        given[flag] = entry.key
        for path, one in ((entry.path, value), *((tuple(p.split(".")), v) for p, v in entry.sets)):
            if path[0] == "settings":
                settings[".".join(path[1:])] = one
                continue
            part = values
            for name in path[:-1]:
                part = part.setdefault(name, {})
            part[path[-1]] = one
    if settings:
        own = reading_settings_of(home_in(values["home"]))
        try:
            values["settings"] = changed_settings(own, settings)
        except UsageError as error:
            for flag, key in given.items():
                wrong = f"The setting {key} "
                if wrong in str(error) and not flag.startswith("--set "):
                    parser.error(str(error).replace(wrong, f"argument {flag} "))
            raise
    try:
        command: Command = model(**values)
    except ValidationError as error:
        _explain(error, known, given, parser)
    command.check_given(given)
    return command


def _options(
    arguments: argparse.Namespace, known: Sequence[Entry]
) -> Iterator[tuple[str, Entry, Any]]:
    """Yield each option or operand that is given, with its value."""
    for entry in known:
        dest = ".".join(entry.path)
        if entry.option and hasattr(arguments, dest):
            yield entry.flag, entry, getattr(arguments, dest)


def _sets(
    arguments: argparse.Namespace, known: Sequence[Entry], parser: argparse.ArgumentParser
) -> Iterator[tuple[str, Entry, Any]]:
    """Yield what each `--set NAME=VALUE` gives; an unknown name is refused with the known ones."""
    by_key = _settable(known)
    for text in (*getattr(arguments, "set_before", ()), *getattr(arguments, "set", ())):
        key, equals, value = text.partition("=")
        if text == "help":
            _print_settable(by_key)
            parser.exit(0)
        if not equals:
            parser.error(f"argument --set: {text!r} is not NAME=VALUE; `--set help` lists names")
        if key not in by_key:
            section = key.rpartition(".")[0]
            same = [name for name in by_key if name.rpartition(".")[0] == section]
            near = difflib.get_close_matches(key, by_key, NEAR, 0.5)
            names = ", ".join(dict.fromkeys([*near, *same]))
            there = f"; there are: {names}" if names else ", nor a name like it"
            parser.error(
                f"argument --set: there is no {key!r} here{there}. `--set help` lists all, with "
                "what each means"
            )
        yield f"--set {key}", by_key[key], _value(value, by_key[key])


def _settable(known: Iterable[Entry]) -> dict[str, Entry]:
    """Return what `--set` reaches by its name there: all but operands, settings last."""
    own_first = sorted(known, key=lambda entry: entry.path[0] == "settings")
    return {e.key: e for e in own_first if not (e.option and e.option.operand)}


def _value(text: str, entry: Entry) -> Any:
    """Return the value that a text means for a field; pydantic does the rest."""
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text
    if entry.is_list:
        return [part.strip() for part in text.split(",") if part.strip() not in ("", "none")]
    return text


def _print_settable(by_key: Mapping[str, Entry]) -> None:
    from flows import terminal

    if not by_key:
        terminal.show("This command has nothing to set.")
    for key, entry in by_key.items():
        terminal.show(f"{key}\n    {entry.help}")


def _explain(
    error: Any, known: Sequence[Entry], given: Mapping[str, str], parser: argparse.ArgumentParser
) -> NoReturn:
    """Leave with the usage and the first fault of a call, by the option that it is about."""
    first = error.errors()[0]
    words = first["msg"].removeprefix("Value error, ")
    place = tuple(str(part) for part in first["loc"] if not isinstance(part, int))
    entry = next((entry for entry in known if place[: len(entry.path)] == entry.path), None)
    if entry is None:
        parser.error(words)
    if entry.option and entry.option.operand:
        flag = entry.option.metavar or entry.path[-1].upper()
    else:
        flag = next((flag for flag, key in given.items() if key == entry.key), entry.flag)
    parser.error(f"argument {flag}: {words}")


def _refuse_broken_text(arguments: argparse.Namespace) -> None:
    """Raise UsageError for arguments that are not UTF-8; only paths to read may be any bytes."""
    from schemas.errors import UsageError

    for name, value in vars(arguments).items():
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            if "\0" in text:
                raise UsageError(f"The value of {name} holds a NUL character.")
            try:
                text.encode()
            except UnicodeEncodeError:
                if name not in PATHS:
                    raise UsageError(f"The value of {name} is not UTF-8 text.") from None
