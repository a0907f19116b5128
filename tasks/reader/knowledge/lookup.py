"""The look-ups for one question: programs are run, and their results are kept as records."""

from collections.abc import Iterable, Sequence
from copy import copy

from tasks.programs.calls import Call
from tasks.programs.knowledge_bases.protocol import EntityRef
from tasks.programs.program_run import ProgramRun, run_program
from tasks.programs.relation_matching import INVERSE_OF, RelationMatcher
from tasks.reader.knowledge.coreference import coreferent_nodes
from tasks.reader.knowledge.corpus import CorpusKnowledge
from tasks.reader.knowledge.records import records_near, records_of
from tasks.reader.sentence import Sentence
from tasks.text.names import normalise_name
from tasks.text.question import Question

PERSON = "person"
MOST_ENTITIES = 60  # per question
MOST_KEPT = 2_000  # entities whose records are kept for further questions

_ENTITIES = """def search():
    messages = []
    for name in {names}:
        info, message = get_entity_info(entity_aliases=[name])
        messages.append(message)
    return "\\n".join(messages)
"""
_RELATED = """def search():
    messages = []
    for name in {names}:
        for relations in {relations}:
            found, message = find_entity_or_value(entity_aliases=[name], relation_aliases=relations)
            messages.append(message)
    return "\\n".join(messages)
"""


class Lookup:
    """The records of one question; each program adds some."""

    def __init__(
        self, question: Question, knowledge: CorpusKnowledge, matcher: RelationMatcher
    ) -> None:
        """Begin without records."""
        self.knowledge = knowledge
        self.programs: list[str] = []
        self.runs: list[ProgramRun] = []
        self._question, self._matcher = question, matcher
        self._records: dict[EntityRef, list[Sentence]] = {}
        self._meant: dict[tuple[str, str], list[EntityRef]] = {}  # by name and context
        self._profiles: dict[int, frozenset[str]] = {}
        self._coreferent: dict[int, frozenset[int]] | None = None

    def entities(self, names: Iterable[str], context: str = "") -> list[EntityRef]:
        """Look up the names that are new; return the entities that all of them mean.

        Of namesakes, those that fit the context best are meant, by default the question.
        """
        names, context = list(dict.fromkeys(names)), context or self._question.text
        new = [name for name in names if (name, context) not in self._meant]
        if new and len(self._records) < MOST_ENTITIES:
            self._look_up(new, context)
        meant = (e for name in names for e in self._meant.get((name, context), ()))
        return list(dict.fromkeys(meant))

    def related(self, names: Sequence[str], relations: Sequence[str]) -> frozenset[str]:
        """Return the ids of the facts that relations lead to from names, in either direction."""
        if not names or not relations:
            return frozenset()
        both = [list(relations), [f"{INVERSE_OF}{relation}" for relation in relations]]
        program = _RELATED.format(names=list(names), relations=both)
        calls = self._run(program, self._question.text)
        return frozenset(fact.fact_id for call in calls for fact in call.facts if fact.fact_id)

    def records_of(self, entities: Sequence[EntityRef]) -> list[Sentence]:
        """Return the records of some entities."""
        return [record for entity in entities for record in self._records.get(entity, ())]

    def records_near(self, question: Question, known: Iterable[Sentence]) -> list[Sentence]:
        """Return what the passages most like a question state, without what is known already."""
        facts = {record.fact.fact_id for record in known if record.fact}
        near = records_near(question, self.knowledge)
        return [record for record in near if record.fact and record.fact.fact_id not in facts]

    def profiles(self) -> dict[int, frozenset[str]]:
        """Return the stems in the records of each node, but not in statements."""
        for entity, records in self._records.items():
            if int(entity.key) not in self._profiles:
                sure = (record for record in records if not record.is_statement)
                words = (record.stems | record.title_stems for record in sure)
                self._profiles[int(entity.key)] = frozenset().union(*words)
        return self._profiles

    def coreferent(self) -> dict[int, frozenset[int]]:
        """Return for each node that corefers with others all nodes of its group."""
        if self._coreferent is None:
            persons = {
                name.bearers[0].entity: name.text
                for records in self._records.values()
                for record in records
                for name in record.names
                if self.knowledge.kind_of(name.bearers[0].entity) == PERSON
            }
            infos = {int(e.key): self.knowledge.get_entity_info(e) for e in self._records}
            self._coreferent = coreferent_nodes(persons, infos, self.knowledge.names_in)
        return self._coreferent

    def with_aliases(self, record: Sentence) -> Sentence:
        """Return a record with all names of its topic."""
        nodes = self.coreferent().get(int(record.topic))
        if not nodes:
            return record
        record = copy(record)
        record.aliases = frozenset(normalise_name(self.knowledge.ref(n).name) for n in nodes)
        return record

    def _look_up(self, names: list[str], context: str) -> None:
        linked = (self.knowledge.entity_linking(context, [name]) for name in names)
        self.knowledge.read_ahead([c.entity for candidates in linked for c in candidates])
        for call in self._run(_ENTITIES.format(names=names), context):
            for name in call.aliases:
                self._meant[name, context] = list(call.entities)
            for entity in call.entities:
                if entity not in self._records:
                    self._records[entity] = self._kept_records(entity)
                    self._coreferent = None

    def _kept_records(self, entity: EntityRef) -> list[Sentence]:
        kept = self.knowledge.kept
        if entity not in kept:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[entity] = records_of(entity, self.knowledge)
        return kept[entity]

    def _run(self, program: str, context: str) -> list[Call]:
        run = run_program(program, self.knowledge, context, matcher=self._matcher)
        self.programs.append(program)
        self.runs.append(run)
        return run.calls
