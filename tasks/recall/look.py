"""What was looked up for one question: programs are run, what they found is kept as records."""

from collections.abc import Iterable, Sequence

from tasks.knowledge_bases.protocol import EntityRef
from tasks.programs.program_run import ProgramRun, run_program
from tasks.programs.relation_matching import RelationMatcher
from tasks.recall.knowledge import CorpusKnowledge
from tasks.recall.lookup_program import look_up
from tasks.recall.records import Record, records_of

MOST_ENTITIES = 60  # of one question


class Looked:
    """The records of one question, more with every program."""

    def __init__(self, question: str, knowledge: CorpusKnowledge, matcher: RelationMatcher) -> None:
        """Begin with nothing."""
        self.records: dict[EntityRef, list[Record]] = {}
        self.programs: list[str] = []
        self.runs: list[ProgramRun] = []
        self._question, self._knowledge, self._matcher = question, knowledge, matcher
        self._asked: dict[str, list[EntityRef]] = {}

    def up(self, names: Iterable[str]) -> list[EntityRef]:
        """Look up what was not yet looked up; return all that the names mean."""
        names = list(dict.fromkeys(names))
        new = [name for name in names if name not in self._asked]
        if new and len(self.records) < MOST_ENTITIES:
            self._run(new)
        return list(dict.fromkeys(e for name in names for e in self._asked.get(name, ())))

    def of(self, entities: Sequence[EntityRef]) -> list[Record]:
        """Return the records of some entities."""
        return [record for entity in entities for record in self.records.get(entity, ())]

    def _run(self, names: list[str]) -> None:
        code = look_up(names)
        run = run_program(code, self._knowledge, self._question, matcher=self._matcher)
        self.programs.append(code)
        self.runs.append(run)
        for call in run.calls:
            for name in call.aliases:
                self._asked[name] = list(call.entities)
            for entity in call.entities:
                if entity not in self.records:
                    self.records[entity] = records_of(entity, self._knowledge)
