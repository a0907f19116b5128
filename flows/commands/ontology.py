"""`almanac ontology`: proposes an ontology from an edition, and lists facts that do not fit one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.jobs import Command, Runner, finer, operand, option
from flows.terminal import Remark, Shown, Table
from schemas.errors import UsageError
from schemas.ontology import ONTOLOGY_FILE
from tasks.text.english_words import counted

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


class Suggest(Command):
    """Propose kinds and relations."""

    out: str | None = option("FILE", "Write a new file (printed instead).", None)
    most: int = finer("Most relations of the proposal.", 100, ge=1)
    edition: str | None = finer("An older edition, by its id.", None)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Return the proposal, and write it if a file is named."""
        from flows.home import edition_of
        from tasks.ontology.check import suggestion

        proposal = suggestion(edition_of(self.place, self.edition), self.most)
        if self.out is not None:
            path = Path(self.out)
            _write_new(path, _as_yaml(proposal))
            relations = counted(len(proposal["relations"]), "relation")
            runner.warn(
                f"Proposed {relations} in {path}. Correct it, and save it as ontology.yaml in the "
                "home; `almanac ontology check` says what does not fit it."
            )
        return proposal

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the proposal as YAML if it was not written."""
        if self.out is None:
            yield _as_yaml(result).rstrip()


def _as_yaml(proposal: dict[str, Any]) -> str:
    """Return YAML from which a reader gets back what is shown: no line within a name is folded."""
    import yaml

    return yaml.safe_dump(proposal, sort_keys=False, allow_unicode=True, width=1000)


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already; name another file.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None


class Check(Command):
    """Say what does not fit."""

    file: str | None = operand("FILE", "The ontology (ontology.yaml in the home).", None)
    edition: str | None = finer("An older edition, by its id.", None)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Return the groups of triples that do not fit the ontology."""
        from flows.home import edition_of
        from tasks.extract.rules.kinds import with_parents
        from tasks.ontology.check import misfits
        from tasks.ontology.read import read_ontology
        from tasks.publish.apply_ontology import check_gazetteer

        home = self.place
        path = Path(self.file) if self.file else home.path / ONTOLOGY_FILE
        if not path.exists():
            raise UsageError(
                f"There is no {path}; `almanac ontology suggest --out {path}` proposes one."
            )
        ontology = with_parents(read_ontology(path))
        edition = edition_of(home, self.edition)
        check_gazetteer(home.journal, ontology.gazetteer)
        runner.warn(
            f"{path}: {counted(len(ontology.kinds), 'kind')}, "
            f"{counted(len(ontology.relations), 'relation')}, mode {ontology.mode}."
        )
        misfitting = misfits(edition, ontology)
        return {"ontology": str(path), "edition": edition.id, "misfits": misfitting}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the commonest misfits."""
        rows = result["misfits"]
        if not rows:
            yield Remark(f"All triples of edition {result['edition']} fit it.")
            return
        shown = [
            [row["triples"], _REASONS[row["reason"]], row["relation"], row["example"]]
            for row in rows[:_MOST_SHOWN]
        ]
        yield Table(_SHOWN, shown)
        if len(rows) > len(shown):
            rarer = counted(len(rows) - len(shown), "rarer one is", "rarer ones are")
            yield Remark(f"{rarer} not shown; --json shows all.")


COMMAND = {"check": Check, "suggest": Suggest}
