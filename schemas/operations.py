"""Live records: runs, calls, rejections, answers and measurements, readable at once."""

from datetime import datetime

from pydantic import Field

from schemas.row import Row


class Run(Row, table="runs", key=("run_id",)):
    """One run of a flow; the next run closes a run that was killed."""

    run_id: str = Field(description="Unique, sortable by time.")
    flow: str = Field(description="The flow's name.")
    started_at: datetime = Field(description="When it began (UTC).")
    ended_at: datetime | None = Field(None, description="When it ended.")
    outcome: str = Field(
        description="running, done, unchanged, failed, held (by a publishing check) or died."
    )
    counts: str = Field(description="Counts by stage, a JSON object.")
    code_version: str = Field(description="Version of the program.")
    edition: str | None = Field(None, description="The edition it published, if it did.")
    error: str | None = Field(None, description="Why it failed, in words.")


class Rejection(Row, table="rejections", key=("run_id", "stage", "item_id")):
    """Something that was kept out of the tables, and why."""

    run_id: str = Field(description="The run that rejected it.")
    stage: str = Field(description="read, extract, ground, resolve or publish.")
    item_id: str = Field(description="The uri, passage or fact.")
    document_id: str | None = Field(None, description="The document, if it belongs to one.")
    reason: str = Field(description="A short, stable code to count and filter by.")
    detail: str | None = Field(
        None, description="What exactly was wrong, and where; null in old records."
    )
    text: str | None = Field(None, description="The rejected text or an explanation, cut short.")
    rejected_at: datetime = Field(description="When (UTC).")


class ModelCall(Row, table="model_calls", key=("call_id",)):
    """One call of a language model, failed ones included; written before its result is used."""

    call_id: str = Field(description="Unique.")
    run_id: str = Field(description="The run that made it.")
    purpose: str = Field(description="extract, link, program, answer …")
    engine: str = Field(description="openai or transformers.")
    endpoint: str | None = Field(None, description="Host and port; null for a local model.")
    model: str = Field(description="The model that was asked.")
    answered_by: str | None = Field(
        None,
        description="The model that the endpoint names, if it differs; almanac-mock is no model.",
    )
    prompt_sha: str = Field(description="Version of the prompt.")
    request_sha: str = Field(description="Hash of the request; equal requests are sent once.")
    document_id: str | None = Field(None, description="The document that it was about.")
    passage_id: str | None = Field(None, description="The passage, if it was about only one.")
    passages: int = Field(description="How many passages shared it.")
    attempt: int = Field(description="1 for the first attempt at a request, 2 for the second …")
    tokens_in: int | None = Field(None, description="Prompt tokens; null if not reported.")
    tokens_out: int | None = Field(None, description="Reply tokens; null if not reported.")
    tokens_cached: int | None = Field(None, description="Prompt tokens from the endpoint's cache.")
    cost: float | None = Field(
        None, description="Cost in the price table's currency; null if unknown."
    )
    seconds: float = Field(description="Seconds from sending to the end of the reply.")
    outcome: str = Field(
        description="ok, repaired (on the second attempt), unreached (never sent), or the fault."
    )
    detail: str | None = Field(None, description="More on what went wrong.")
    reply_form: str | None = Field(None, description="The form requested: schema, json or text.")
    batch: bool = Field(description="Whether it went through the Batch API.")
    called_at: datetime = Field(description="When (UTC).")


class BatchJob(Row, table="batches", key=("tag",)):
    """A batch of calls at an endpoint, written before it is sent, so that a kill loses none."""

    tag: str = Field(description="Almanac's mark on it, by which the endpoint finds it again.")
    run_id: str = Field(description="The run that made it.")
    endpoint: str = Field(description="Host and port.")
    model: str = Field(description="The model that was asked.")
    batch_id: str | None = Field(None, description="The endpoint's id, once it is known.")
    status: str = Field(description="sending, the endpoint's word for it, or done.")
    requests: str = Field(description="Hashes of the calls in it, a JSON array.")
    sent_at: datetime = Field(description="When (UTC).")


class AnswerRecord(Row, table="answers", key=("question_id",)):
    """A question that was asked, and its answer."""

    question_id: str = Field(description="Unique.")
    question: str = Field(description="As asked.")
    answer: str | None = Field(
        None, description="The first of the answers, null if the almanac does not know."
    )
    answers: list[str] | None = Field(
        None, description="All answers; null for questions that an older version recorded."
    )
    probability: float | None = Field(
        None, description="How likely the answer is right, if the route that answered says so."
    )
    answerable: bool = Field(description="Whether an answer was given.")
    route: str = Field(description="The route that answered.")
    thrust: float | None = Field(None, description="The gate's score, if a gate is calibrated.")
    task: str | None = Field(None, description="The task whose gate gave the score.")
    gate: str | None = Field(None, description="That gate and the id of its calibration.")
    budget: float | None = Field(
        None, description="Share of the task's questions that may fetch; null if no gate decided."
    )
    level: float | None = Field(
        None, description="Share of recent scores below the gate's threshold."
    )
    retrieve: bool | None = Field(
        None, description="Whether knowledge was fetched; null if no gate decided."
    )
    retrieve_cause: str | None = Field(
        None,
        description="score (below the threshold or not), current (asks for something current), "
        "known_name (names an entity of the corpus, of which the gate's seeds name none), "
        "unknown_task, no_score, or no_answer (the model had none by itself).",
    )
    found: str | None = Field(
        None, description="yes, partly or no: how much a model found of what was asked."
    )
    way: str | None = Field(
        None, description="What routes said and how a model came to the answer, a JSON object."
    )
    cost: float | None = Field(None, description="What model calls cost, as far as is known.")
    program: str | None = Field(None, description="The search program, if one was run.")
    evidence: str = Field(description="The evidence for the answer, a JSON array.")
    edition: str = Field(description="The edition that was read.")
    tokens: int = Field(description="Tokens of model calls.")
    seconds: float = Field(description="Seconds from question to answer.")
    feedback: str | None = Field(None, description="How right it was, 0 to 1, and any comment.")
    judged_at: datetime | None = Field(None, description="When the asker said so (UTC).")
    asked_at: datetime = Field(description="When (UTC).")


class ExpertDecision(Row, table="expert_decisions", key=("question_id", "step")):
    """One decision on the way of a question through the experts."""

    question_id: str = Field(description="The question.")
    step: int = Field(description="Number of the decision, from 0.")
    mode: str = Field(description="bottom_up, automatic or explicit.")
    kind: str = Field(
        description="need (yes or no), wanted (information), expert (chosen), or text (kept or "
        "dropped)."
    )
    decision: str = Field(description="yes or no; the information; the expert; kept or dropped.")
    reason: str | None = Field(
        None,
        description="Why: empty, repeated, relevance, factuality, sampled, votes or budget for a "
        "dropped text; votes or no_reply for need; named or nearest for expert.",
    )
    expert: str | None = Field(None, description="The expert that it concerns.")
    text: str | None = Field(None, description="The text that the expert wrote.")
    pruned: str | None = Field(None, description="The text as it was pruned.")
    agreement: float | None = Field(None, description="Share of its expert's texts equal to it.")
    relevance: float | None = Field(None, description="Cosine with the question.")
    summary: float | None = Field(None, description="How well the text supports the pruned one.")
    support: float | None = Field(None, description="Probability that evidence supports it.")
    refute: float | None = Field(None, description="Probability that evidence refutes it.")
    unknown: float | None = Field(None, description="Probability that evidence does not say.")
    score: float | None = Field(
        None, description="Factuality of a text, 0 to 1; share of yes; or cosine of a description."
    )
    decided_at: datetime = Field(description="When (UTC).")


class Evaluation(Row, table="evaluations", key=("dataset", "system", "metric", "measured_at")):
    """One figure measured on one data set."""

    dataset: str = Field(description="The questions or texts that were used.")
    system: str = Field(description="The system that was measured.")
    metric: str = Field(description="Name of the figure.")
    value: float = Field(description="The figure.")
    items: int = Field(description="Number of items measured.")
    edition: str | None = Field(None, description="The edition that was read.")
    measured_at: datetime = Field(description="When (UTC).")


class Change(Row, table="changes", key=("edition", "fact_kind", "fact_id", "kind")):
    """A difference from an edition's parent, but for imported graphs: `editions diff` has these."""

    edition: str = Field(description="The edition that differs.")
    parent: str | None = Field(None, description="The edition that it is compared with.")
    kind: str = Field(
        description="added, gone, moved (to another entity; a document to another uri) or changed "
        "(a text)."
    )
    fact_kind: str = Field(description="document, entity, relation, triple, description or aspect.")
    fact_id: str = Field(description="Its id.")
    text: str = Field(description="The fact in words.")
    cause: str = Field(description="document, code (or settings), or override (also an audit).")
    document_id: str | None = Field(None, description="The document behind it, if any.")
