"""`almanac ontology`: proposes an ontology from an edition, and lists facts that do not fit one."""

import argparse
from pathlib import Path

from flows import terminal
from flows.home import edition_of, home_of
from schemas.errors import UsageError
from schemas.ontology import Ontology

_SHOWN = ("triples", "what does not fit", "relation", "such as")
_REASONS = {
    "relation": "the relation is not listed",
    "head": "the head is of another kind",
    "tail": "the tail is of another kind",
    "unit": "the unit is another",
    "gazetteer": "an end is not in the gazetteer",
    "several values": "heads with several tails",
}
_MOST_SHOWN = 40


def run(arguments: argparse.Namespace) -> int:
    """Print or write a proposal, or show what does not fit."""
    if arguments.action == "suggest":
        return _suggest(arguments)
    return _check(arguments)


def _suggest(arguments: argparse.Namespace) -> int:
    import yaml

    from tasks.ontology.check import suggestion

    edition = edition_of(home_of(arguments), arguments.edition)
    proposal = suggestion(edition, arguments.most)
    # A reader of YAML must get back what is shown, so that lines are not folded in names.
    text = yaml.safe_dump(proposal, sort_keys=False, allow_unicode=True, width=1000)
    if arguments.out is not None:
        path = Path(arguments.out)
        _write_new(path, text)
        terminal.say(
            f"Proposed {len(proposal['relations'])} relations in {path}. Correct it, and save it "
            "as ontology.yaml in the home; `almanac ontology check` says what does not fit it."
        )
    if arguments.json:
        terminal.show_json(proposal)
    elif arguments.out is None:
        terminal.show(text.rstrip())
    return 0


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already; name another file.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None


def _check(arguments: argparse.Namespace) -> int:
    from schemas.ontology import ONTOLOGY_FILE
    from tasks.ontology.check import misfits
    from tasks.ontology.read import read_ontology
    from tasks.publish.apply_ontology import check_gazetteer

    home = home_of(arguments)
    path = Path(arguments.file) if arguments.file else home.path / ONTOLOGY_FILE
    if not path.exists():
        raise UsageError(
            f"There is no {path}; `almanac ontology suggest --out {path}` proposes one."
        )
    ontology = read_ontology(path)
    edition = edition_of(home, arguments.edition)
    check_gazetteer(home.journal, ontology.gazetteer)
    rows = misfits(edition, ontology)
    if arguments.json:
        terminal.show_json({"ontology": str(path), "edition": edition.id, "misfits": rows})
        return 0
    terminal.say(_in_words(path, ontology))
    if not rows:
        terminal.say(f"All triples of edition {edition.id} fit it.")
        return 0
    shown = [
        [row["triples"], _REASONS[row["reason"]], row["relation"], row["example"]]
        for row in rows[:_MOST_SHOWN]
    ]
    terminal.table(_SHOWN, shown)
    if len(rows) > len(shown):
        terminal.say(f"{len(rows) - len(shown)} rarer ones are not shown; --json shows all.")
    return 0


def _in_words(path: Path, ontology: Ontology) -> str:
    return (
        f"{path}: {len(ontology.kinds)} kinds, {len(ontology.relations)} relations, "
        f"mode {ontology.mode}."
    )
