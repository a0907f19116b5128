"""Settings: immutable values, read from `settings.toml` in the home and the command line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from schemas.errors import UsageError
from schemas.extras import E5_SMALL, MINILM
from schemas.ontology import Ontology

GONE = (("engine", "typed"),)  # sections and names of settings that earlier versions had
Share = Annotated[float, Field(ge=0, le=1)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReadSettings(_Settings):
    """Limits on what is read from sources."""

    max_file_bytes: int = Field(100_000_000, ge=1, description="Larger files are refused unread.")
    max_dump_bytes: int = Field(
        100_000_000_000, ge=1, description="The same for files of many records, which are streamed."
    )
    max_text_chars: int = Field(5_000_000, ge=1, description="Longer texts are refused.")
    max_expansion: int = Field(
        200, ge=1, description="The factor by which a compressed input may grow."
    )
    max_seconds: float = Field(
        30.0, gt=0, description="Time limit on parsing one document, page or record."
    )
    charset: str | None = Field(
        None,
        description="The charset of text that is not UTF-8 and declares none; without it, such "
        "text is refused.",
    )
    text_column: str = Field(
        "text", description="The column with the text in CSV, TSV, Parquet and JSON records."
    )
    exclude: tuple[str, ...] = Field(
        (),
        description="Files to skip (.gitignore patterns), in addition to .almanacignore (none).",
    )
    passage_tokens: int = Field(
        160, ge=1, description="Longest passage, in words and punctuation marks."
    )

    @field_validator("charset")
    @classmethod
    def _is_known(cls, charset: str | None) -> str | None:
        """Refuse a name that is not one of Python's charsets."""
        try:
            "a".encode(charset or "utf-8")
        except LookupError as error:
            raise ValueError(f"{charset} is not a known charset, such as cp1252") from error
        return charset


class Price(_Settings):
    """What a model costs, per million tokens."""

    input: float = Field(ge=0, description="Prompt tokens.")
    output: float = Field(ge=0, description="Reply tokens.")
    cached: float | None = Field(
        None, ge=0, description="Prompt tokens from the endpoint's cache; by default as `input`."
    )
    batch: float = Field(0.5, ge=0, le=1, description="Share of the price that a batch costs.")


class ModelSettings(_Settings):
    """The language model and the limits on its calls and cost."""

    name: str = Field(
        "",
        description="The endpoint's model, or a local one by path, hub name, or `smollm2` (none).",
    )
    base_url: str | None = Field(None, description="The endpoint; OPENAI_BASE_URL by default.")
    concurrency: int = Field(16, ge=1, le=1024, description="Concurrent calls.")
    requests_per_minute: float | None = Field(None, gt=0, description="The endpoint's limit.")
    tokens_per_minute: float | None = Field(None, gt=0, description="The endpoint's limit.")
    deadline_seconds: float = Field(
        120.0, gt=0, description="Time limit on a call, all attempts included."
    )
    attempts: int = Field(
        6,
        ge=1,
        le=20,
        description="Most attempts at a call; ten times as many if it is throttled.",
    )
    longest_wait_seconds: float = Field(
        120.0, ge=0, description="The run stops if the endpoint asks for a longer pause."
    )
    patience_seconds: float = Field(
        90.0, gt=0, description="The run stops after failing for this long without a success."
    )
    reply_tokens: int = Field(
        4096, ge=16, description="Longest reply; doubled once for a reply that is cut short."
    )
    call_tokens: int = Field(
        2000, ge=1, description="Passages of one document share a call up to this many tokens."
    )
    forms: Literal["together", "apart"] = Field(
        "together", description="One call for all forms of knowledge, or one for each."
    )
    second_look: bool = Field(
        False, description="Ask again about the sentences that the first reply did not cover."
    )
    prices: dict[str, Price] = Field(
        default_factory=dict, description="Prices by model; they override those of the file."
    )
    prices_file: str = Field(
        "",
        description="A TOML file of prices by model and their `currency`; the built-in one is in "
        "US dollars.",
    )
    budget: float | None = Field(None, ge=0, description="The most that a run may cost (no limit).")
    batch: bool = Field(False, description="Use the endpoint's Batch API.")
    batch_poll_seconds: float = Field(
        30.0, gt=0, description="Seconds between two looks at a batch's status."
    )
    sensitive: bool = Field(False, description="Whether this endpoint may see sensitive documents.")
    device: str | None = Field(
        None, description="Device of a local model: cpu, cuda …; chosen automatically by default."
    )
    local_batch: int = Field(8, ge=1, description="Prompts in one batch of a local model.")


BESIDE = {"minilm": "minilm-zh", E5_SMALL: E5_SMALL}  # the encoder of Chinese, by the other one


class EngineSettings(_Settings):
    """The engine that extracts, its model and its encoders."""

    engine: Literal["rules", "openai", "transformers"] = Field(
        "rules",
        description="The embedded rules, a model behind OpenAI's API, or a local transformers "
        "model.",
    )
    extractor: str | None = Field(
        None, description="A plug-in that extracts in place of the embedded rules (the rules)."
    )
    model: ModelSettings = ModelSettings()
    answer_model: ModelSettings | None = Field(
        None,
        description="Another model that answers questions, behind an endpoint if the engine is "
        "rules (the same).",
    )
    english_pipeline: str | None = Field(
        None, description="Name or path of a spaCy pipeline, such as en_core_web_sm."
    )
    speaker: str = Field(
        "", max_length=200, description="Who “we” and “the company” are in the documents."
    )
    audience: str = Field("", max_length=200, description="Who “you” are in the documents.")
    ontology: Ontology | None = Field(
        None, description="Kinds and relations; by default what the home's ontology.yaml says."
    )
    encoder: str = Field(
        default_factory=lambda: "minilm" if find_spec(MINILM) else "none",
        description="minilm (packaged; the default where it is installed), e5-small (for all "
        "languages, once it is installed), a sentence-transformers name or path, or none, with "
        "which search uses words.",
    )
    chinese_encoder: str = Field(
        default_factory=lambda chosen: BESIDE.get(chosen.get("encoder"), "none"),
        description="For Chinese: minilm-zh or e5-small (the defaults beside minilm and e5-small), "
        "a sentence-transformers name or path, or none, with which search uses words.",
    )

    @property
    def name_encoders(self) -> tuple[str, str]:
        """The encoder of names, relations and short descriptions, and the one for Chinese.

        Where both are installed, MiniLM compares these: by its cosines the thresholds are set, and
        of pairs of descriptions of namesakes it keeps .43 apart, e5-small .33 (108 pairs about one
        thing are joined by either).
        """
        if self.encoder == E5_SMALL and find_spec(MINILM):
            return "minilm", BESIDE["minilm"]
        return self.encoder, self.chinese_encoder

    @property
    def for_answers(self) -> "EngineSettings":
        """The engine that answers questions: without a batch, and without the budget of a run."""
        model = self.answer_model or self.model
        model = model.model_copy(update={"batch": False, "budget": None})
        engine = "openai" if self.answer_model and self.engine == "rules" else self.engine
        return self.model_copy(update={"engine": engine, "model": model})

    @property
    def withholds_sensitive(self) -> bool:
        """Whether the model is behind an endpoint that may not see sensitive documents."""
        return self.engine == "openai" and not self.model.sensitive


class GateSettings(_Settings):
    """When a model answers by itself, and how often knowledge may be fetched."""

    use: bool = Field(True, description="Ask the gate, where one is calibrated.")
    budget: Literal["scarce", "medium", "abundant"] | Share = Field(
        "medium", description="Share of questions that may fetch: 25, 50, 75 %; or 0 to 1, or 30%."
    )
    task: str | None = Field(
        None, description="The task of all questions; by default each question's nearest task."
    )
    freshness: bool = Field(True, description="Always fetch for questions about something current.")
    window: int = Field(
        400, ge=20, le=10_000, description="How many recent questions of a task set its threshold."
    )

    @field_validator("budget", mode="wrap")
    @classmethod
    def _share(cls, budget: Any, checked: ValidatorFunctionWrapHandler) -> Any:
        """Read 30% as .3; raises ValueError, which names all forms, for what is no budget."""
        if isinstance(budget, str) and budget.removesuffix("%").isdecimal() and budget[-1:] == "%":
            budget = int(budget[:-1]) / 100
        try:
            return checked(budget)
        except ValidationError:
            forms = "it should be 'scarce', 'medium' or 'abundant', or a share: 0 to 1, or 30%"
            raise ValueError(forms) from None


class AskSettings(_Settings):
    """How a language model answers questions from what is known."""

    answer_tokens: int = Field(
        2500, ge=200, description="Tokens of the numbered sources that a model reads."
    )
    turns: int = Field(3, ge=0, le=20, description="Turns of a conversation that it is shown.")
    question_tokens: int | None = Field(
        None, ge=1, description="No further call for a question that has taken so many (no limit)."
    )
    day_tokens: int | None = Field(
        None, ge=0, description="After so many in a day (UTC), no model is asked (no limit)."
    )
    day_cost: float | None = Field(
        None, ge=0, description="After so much money in a day (UTC), no model is asked (no limit)."
    )


class ExpertSettings(_Settings):
    """How questions draw on experts (CooK): how many texts, and through which filters."""

    use: bool | None = Field(
        None,
        description="Ask the experts too, where other routes are not sure; by default unless "
        "`almanac learn` measured that they do not help.",
    )
    mode: Literal["bottom_up", "automatic", "explicit"] = Field(
        "bottom_up",
        description="All experts write; or the model says what it needs, and the expert is chosen "
        "by its description (automatic) or by the model (explicit).",
    )
    written: int = Field(3, ge=1, le=32, description="Texts that an expert writes (n1).")
    relevant: int = Field(5, ge=1, description="Texts that the relevance filter keeps (n2).")
    kept: int = Field(3, ge=1, description="Texts that the answering model sees (n3).")
    iterations: int = Field(1, ge=1, le=8, description="Most rounds of asking for information.")
    paraphrases: int = Field(
        3, ge=1, le=3, description="Wordings in which the model is asked if it needs more."
    )
    relevance: bool = Field(True, description="Use the relevance filter.")
    pruning: bool = Field(True, description="Use the pruning filter.")
    factuality: bool = Field(True, description="Use the factuality filter.")
    summarizer: str | None = Field(
        None, description="A sequence-to-sequence model that prunes; by default sentences are kept."
    )
    verifier: str = Field(
        "embedded", description="embedded, or a sequence-classification model by path or name."
    )
    summary_verifier: str | None = Field(
        None, description="A model such as FactKB that compares pruned texts with their originals."
    )
    pool: int | None = Field(
        None, ge=1, description="Best texts among which factuality sampling draws; twice `kept`."
    )
    temperature: float = Field(0.1, gt=0, description="Temperature of factuality sampling.")
    greedy: bool = Field(False, description="Keep the best texts instead of sampling.")
    prompts: Literal["both", "question", "plain"] = Field(
        "both",
        description="Whether experts answer the question, continue it, or half of the texts each.",
    )
    new_tokens: int = Field(100, ge=1, le=2048, description="Longest text of an expert.")
    knowledge_tokens: int = Field(
        600, ge=1, description="Longest texts that the answering model sees, together."
    )
    writing_temperature: float = Field(1.0, ge=0, description="Temperature of the experts.")
    seed: int = Field(0, description="Random seed of experts and sampling.")

    @property
    def has_filters(self) -> bool:
        """Whether any filter of texts is on."""
        return self.relevance or self.pruning or self.factuality


class PublishSettings(_Settings):
    """When an edition may be published and how long it is kept."""

    min_confidence: float = Field(
        0.7,
        ge=0,
        le=1,
        description="Triples, descriptions, notes and aliases of the corpus with less stay in the "
        "journal, out of the tables; from .7 on .8 of the judged triples of corpora that the "
        "weights had not seen were useful (docs/log.md).",
    )
    min_usefulness: float = Field(
        0.7,
        ge=0,
        le=1,
        description="Statements with less are in the table `clauses` alone; from .7 on .74 "
        "of the judged statements of corpora that the weights had not seen were useful, .10 wrong "
        "(docs/log.md).",
    )
    max_delete: float = Field(
        0.2, ge=0, le=1, description="Share of documents that a refresh may delete."
    )
    free_deletions: int = Field(
        10, ge=0, description="Number of deletions that are always allowed."
    )
    max_rejected: float = Field(
        0.5, ge=0, le=1, description="Share of passages whose extraction may fail."
    )
    max_shrink: float = Field(
        0.5, ge=0, le=1, description="Share of its rows that a fact table may lose."
    )
    wait_seconds: float = Field(
        0.0, ge=0, le=86_400, description="Seconds to wait for another run on this home."
    )
    keep_editions: int = Field(5, ge=1, description="Number of editions that are always kept.")
    keep_days: float = Field(7.0, ge=0, description="Younger editions are kept too.")
    compact_after: int = Field(
        8, ge=1, description="Small parts of a table that the next run which publishes merges."
    )


class SqlSettings(_Settings):
    """Limits on a query that people write."""

    seconds: float = Field(60.0, gt=0, description="A query that runs longer is stopped.")
    memory_mb: int = Field(2048, ge=1, description="A query that needs more is stopped.")
    threads: int = Field(2, ge=1, description="Threads per query.")


class KnowledgeBaseSettings(_Settings):
    """The knowledge bases that answer a question, and limits on requests to remote ones."""

    languages: dict[str, tuple[str, ...]] = Field(
        {"en": ("corpus", "*", "wikipedia"), "zh": ("corpus", "*", "cn-dbpedia")},
        description="Knowledge bases by the question's language (other languages use en): corpus, "
        "names of imported graphs, * for all of these, wikipedia, wikidata, cn-dbpedia.",
    )
    remote: bool = Field(
        False,
        description="Whether wikipedia, wikidata and cn-dbpedia may be asked over the network.",
    )
    wikipedia_url: str = Field(
        "https://{language}.wikipedia.org/w/api.php", pattern="^https?://", description="Its API."
    )
    wikidata_url: str = Field(
        "https://www.wikidata.org/w/api.php", pattern="^https?://", description="Its API."
    )
    wikidata_sparql_url: str = Field(
        "https://query.wikidata.org/sparql", pattern="^(https?://|$)",
        description="Finds facts that refer to an entity; without it, there are none.",
    )  # fmt: skip
    cndbpedia_url: str = Field(
        "http://shuyantech.com/api/cndbpedia", pattern="^https?://",
        description="Its API; CNDBPEDIA_API_KEY holds the key, if one is needed.",
    )  # fmt: skip
    contact: str = Field(
        "", max_length=200, pattern=r"^[\x20-\x7e]*$",
        description="The user's contact address, which Wikimedia asks clients to send.",
    )  # fmt: skip
    deadline_seconds: float = Field(
        10.0, gt=0, description="Time limit on a request, all attempts included."
    )
    question_seconds: float = Field(
        30.0, gt=0, description="Time limit on one remote knowledge base per question."
    )
    attempts: int = Field(3, ge=1, le=10, description="Most attempts at a request.")
    concurrency: int = Field(3, ge=1, le=64, description="Concurrent requests per host.")
    max_reply_bytes: int = Field(8_000_000, ge=1, description="Larger replies are refused.")
    fresh_days: float = Field(7.0, ge=0, description="Cached replies are used up to this age.")
    keep_days: float = Field(
        90.0, ge=0, description="If the service fails, cached replies are used up to this age."
    )


class Settings(_Settings):
    """All settings of a home."""

    read: ReadSettings = ReadSettings()
    engine: EngineSettings = Field(default_factory=EngineSettings)
    gate: GateSettings = GateSettings()
    ask: AskSettings = AskSettings()
    experts: ExpertSettings = ExpertSettings()
    publish: PublishSettings = PublishSettings()
    sql: SqlSettings = SqlSettings()
    knowledge_bases: KnowledgeBaseSettings = KnowledgeBaseSettings()
    workers: int = Field(
        2, ge=1, description="Worker processes; of a cluster, the most that are used, else all."
    )
    runner: Literal["threads", "dask"] = Field(
        "threads", description="Where bulk work runs: in processes here, or on Dask."
    )
    dask_address: str | None = Field(
        None,
        description="The address of a running Dask cluster, or `local` to start one (none).",
    )

    @field_validator("dask_address")
    @classmethod
    def _of_a_running_cluster(cls, address: str | None) -> str | None:
        """Return no address for `local`, which is what is started without one."""
        if address is not None and not address.strip():
            raise ValueError("it is empty; name the address of a scheduler, or `local`")
        return None if address == "local" else address


def load_settings(home: Path, warn: Callable[[str], None] | None = None) -> Settings:
    """Return a home's settings, the defaults without a file; raise ValueError if it is invalid.

    The error says in one line what to correct. `warn` is told of a setting that went.
    """
    import tomllib

    path = home / "settings.toml"
    if not path.exists():
        return Settings()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        for section, name in GONE:
            if isinstance(values.get(section), dict) and name in values[section]:
                del values[section][name]
                if warn:
                    warn(f"{path}: {section}.{name} no longer does anything; remove the line.")
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ValueError(_in_words(error)) from error


def changed_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with other values of some, by their path, such as `engine.encoder`.

    Raises UsageError if a value is invalid.
    """
    for path, value in changes.items():
        try:
            settings = _changed(settings, path.split("."), value)
        except ValidationError as error:
            words = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise UsageError(f"The setting {path} cannot be {value!r}: {words}.") from error
    return settings


S = TypeVar("S", bound=BaseModel)


def _changed(section: S, path: Sequence[str], value: Any) -> S:
    name, *deeper = path
    if deeper:
        return section.model_copy(update={name: _changed(getattr(section, name), deeper, value)})
    given = {known: getattr(section, known) for known in section.model_fields_set}
    return type(section).model_validate({**given, name: value})


def _in_words(error: ValidationError) -> str:
    """Return what the first fault is; a setting in the wrong section is told its own."""
    first = error.errors()[0]
    *section, name = map(str, first["loc"])
    if first["type"] != "extra_forbidden":
        return f"{'.'.join([*section, name])}: {first['msg'].removeprefix('Value error, ')}"
    words = f"there is no setting {name}" + (f" under [{'.'.join(section)}]" if section else "")
    homes = [f"under [{place}]" if place else "at the top" for place in _sections_with(name)]
    return f"{words}; it belongs {' or '.join(homes)}" if homes else words


def _sections_with(
    name: str, section: type[_Settings] = Settings, place: str = ""
) -> Iterator[str]:
    """Yield the sections that have a setting of this name; the top is the empty section."""
    if name in section.model_fields:
        yield place
    for key, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, _Settings):
            yield from _sections_with(name, kind, f"{place}.{key}".lstrip("."))
