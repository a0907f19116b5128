"""The transport to a language model in this process, which answers requests in batches."""

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.errors import AlmanacError, UsageError
from schemas.settings import ModelSettings
from tasks.models.call import CallError, Outcome, RawReply, Sent
from tasks.models.constrained import ConstrainedReply, Constraint, Grammars
from tasks.models.decoding import decode
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.models.loaded_model import LoadedModel, load_model
from tasks.models.measures import Measures
from tasks.models.plain_answers import (
    Written,
    prompt_ids,
    question_tokens,
    write_plainly,
)
from tasks.models.shared_prefix import SharedPrefixes

GATHER_SECONDS = 0.02  # how long an incomplete batch waits for more requests


@dataclass(slots=True, eq=False)
class _Waiting:
    """A waiting request, with the tokens of its prompt once it is tokenised."""

    sent: Sent
    reply: Future[RawReply]
    prompt: list[int] | None = None


class LocalModel:
    """Passes calls to one model in this process, which is loaded at the first call.

    The model runs in one thread, so that the event loop stays free. Requests that arrive while it
    runs form the next batches, by length. Decoding is greedy, so equal requests get equal replies.
    """

    engine = "transformers"
    endpoint: str | None = None

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._batch = settings.local_batch
        self._waiting: list[_Waiting] = []
        self._changed = threading.Condition()
        self._working = self._closed = False
        self._unloadable: UsageError | None = None
        self._loaded: LoadedModel | None = None
        self._grammars: Grammars | None = None
        self._prefixes: SharedPrefixes | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local model")

    async def send(self, sent: Sent) -> RawReply:
        """Return the model's reply; raise CallError if there is none. Tries once.

        Token counts exclude padding and include the end token of the reply.
        """
        waiting = _Waiting(sent, Future())
        with self._changed:
            if self._closed:
                raise CallError(Outcome.UNAVAILABLE, "the model has been closed")
            self._waiting.append(waiting)
            self._changed.notify()
            if not self._working:
                self._working = True
                self._thread.submit(self._work)
        return await asyncio.wrap_future(waiting.reply)

    async def close(self) -> None:
        """End the current batch, fail the waiting requests, and release the model."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.shutdown)
        self._loaded = self._grammars = self._prefixes = None
        _free_memory()

    # -- in the thread ------------------------------------------------------------------------

    def _work(self) -> None:
        """Answer batch after batch until no request waits."""
        while batch := self._next_batch():
            try:
                self._answer(batch)
            except Exception as error:
                for request in batch:
                    _fail(request, error)

    def _next_batch(self) -> list[_Waiting]:
        """Return the first waiting request, and those that are closest to it in length."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or len(self._waiting) >= self._batch, GATHER_SECONDS
            )
            if self._closed:
                for request in self._waiting:
                    _fail(request, CallError(Outcome.UNAVAILABLE, "the model has been closed"))
                self._waiting.clear()
            first = _length(self._waiting[0]) if self._waiting else 0
            near = sorted(self._waiting[1:], key=lambda request: abs(_length(request) - first))
            batch = [*self._waiting[:1], *near[: self._batch - 1]]
            self._waiting = [request for request in self._waiting if request not in batch]
            self._working = bool(batch)
        return batch

    def _answer(self, batch: list[_Waiting]) -> None:
        """Answer a batch; fail the requests that get no answer."""
        loaded, grammars = self._ready()
        going: list[_Waiting] = []
        rows: list[ConstrainedReply] = []
        plain: list[_Waiting] = []
        for request in batch:
            if not request.reply.set_running_or_notify_cancel():
                continue
            if request.sent.plain:
                plain.append(request)
                continue
            try:
                request.prompt = loaded.prompt(request.sent.messages)
                room = _room(loaded, len(request.prompt), request.sent.most_tokens)
                rows.append(ConstrainedReply(_matcher(grammars, request.sent), room))
                going.append(request)
            except CallError as error:
                request.reply.set_exception(error)
        if going:
            self._generate(going, rows)
        if plain:
            self._write(plain)

    def _write(self, batch: list[_Waiting]) -> None:
        """Answer plain requests; each prompt's last message is the question."""
        loaded, _ = self._ready()
        self._choose([request for request in batch if request.sent.choices])
        batch = [request for request in batch if not request.sent.choices]
        until = time.monotonic() + self._settings.deadline_seconds
        for room in {request.sent.most_tokens for request in batch}:
            group = [request for request in batch if request.sent.most_tokens == room]
            prompts = [_plain_prompt(loaded, request.sent, room) for request in group]
            written = write_plainly(loaded, prompts, room, lambda: self._must_end(until))
            for request, prompt, answer in zip(group, prompts, written, strict=True):
                if answer.finish == "over":
                    request.reply.set_exception(self._unfinished())
                else:
                    request.reply.set_result(_measured(answer, len(prompt)))

    def _choose(self, batch: list[_Waiting]) -> None:
        """Answer each request with its best choice; the entropy is taken over the choices."""
        loaded, _ = self._ready()
        prompts = [
            _with_choices(loaded, request.sent.messages[-1]["content"], request.sent.choices)
            for request in batch
        ]
        scores = log_likelihoods(loaded, prompts, self._batch)
        by_prior: dict[str, list[int]] = {}
        for place, request in enumerate(batch):
            if request.sent.unasked is not None:
                by_prior.setdefault(request.sent.unasked, []).append(place)
        for unasked, places in by_prior.items():
            choices = dict.fromkeys(c for place in places for c in batch[place].sent.choices)
            neutral = _with_choices(loaded, unasked, list(choices))
            priors = dict(
                zip(choices, log_likelihoods(loaded, [neutral], self._batch)[0], strict=True)
            )
            for place in places:
                scores[place] -= [priors[choice] for choice in batch[place].sent.choices]
        for request, question, score in zip(batch, prompts, scores, strict=True):
            logs = score - np.logaddexp.reduce(score)
            entropy = float(-(np.exp(logs) * logs).sum())
            request.reply.set_result(
                RawReply(
                    text=request.sent.choices[int(logs.argmax())],
                    tokens_in=len(prompt_ids(loaded, question.prompt, special=True)),
                    tokens_out=0,
                    measures=Measures(float(-logs.max()), entropy),
                )
            )

    def _ready(self) -> tuple[LoadedModel, Grammars]:
        """Return the model, loaded at the first call; a failed load is not tried again."""
        if self._unloadable is not None:
            raise self._unloadable
        if self._loaded is None or self._grammars is None:
            try:
                self._loaded = load_model(self._settings.name, self._settings.device)
            except UsageError as error:
                self._unloadable = error
                raise
            size = self._loaded.model.config.get_text_config().vocab_size
            self._grammars = Grammars(self._loaded.tokenizer, size, self._loaded.ends)
            self._prefixes = SharedPrefixes(self._loaded)
        return self._loaded, self._grammars

    def _generate(self, batch: list[_Waiting], rows: list[ConstrainedReply]) -> None:
        """Generate the replies; if memory runs out, halve the batch size from then on."""
        try:
            self._generate_once(batch, rows)
            return
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
        if self._prefixes:
            self._prefixes.clear()
        _free_memory()
        half = (len(batch) + 1) // 2
        try:
            if half == len(batch):
                raise MemoryError
            self._batch = min(self._batch, half)
            for part in (slice(0, half), slice(half, None)):
                fresh = [
                    ConstrainedReply(_matcher(self._ready()[1], request.sent), row.room)
                    for request, row in zip(batch[part], rows[part], strict=True)
                ]
                self._generate_once(batch[part], fresh)
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            raise AlmanacError(
                f"The model ran out of memory with {half} prompts at once. Set a smaller "
                "local_batch, call_tokens or reply_tokens under [engine.model], or use a smaller "
                "model."
            ) from error

    def _generate_once(self, batch: list[_Waiting], rows: list[ConstrainedReply]) -> None:
        """Generate the replies to a batch and deliver them."""
        loaded, grammars = self._ready()
        prompts = [request.prompt or [] for request in batch]
        read, cache = self._prefixes.begin(prompts) if self._prefixes else (0, None)
        until = time.monotonic() + self._settings.deadline_seconds
        written = decode(
            loaded,
            prompts,
            Constraint(rows, grammars, loaded.ends),
            max(row.room for row in rows),
            is_over=lambda: self._must_end(until),
            read=read,
            cache=cache,
        )
        for request, row, tokens in zip(batch, rows, written, strict=True):
            self._deliver(request, row, tokens, read)

    def _must_end(self, until: float) -> bool:
        return self._closed or time.monotonic() > until

    def _unfinished(self) -> CallError:
        seconds = f"{self._settings.deadline_seconds:g}"
        why = "the model has been closed" if self._closed else f"no whole reply in {seconds} s"
        return CallError(Outcome.TIMED_OUT, why)

    def _deliver(
        self, request: _Waiting, row: ConstrainedReply, tokens: list[int], cached: int
    ) -> None:
        """Give a request its reply, or the reason why it has none."""
        loaded, grammars = self._ready()
        reply_tokens = tokens[:-1] if tokens[-1] in loaded.ends else tokens
        if row.finish is None:
            request.reply.set_exception(self._unfinished())
        elif row.finish == "broken":
            words = "the model's tokens cannot spell a reply of this shape"
            request.reply.set_exception(CallError(Outcome.INVALID, words))
        else:
            counted = len(reply_tokens) + (row.finish == "stop")
            request.reply.set_result(
                RawReply(
                    text=grammars.text(reply_tokens),
                    finish=row.finish,
                    tokens_in=len(request.prompt or []),
                    tokens_out=counted,
                    tokens_cached=cached,
                    form="schema",
                )
            )


def _with_choices(loaded: LoadedModel, text: str, choices: Sequence[str]) -> Choices:
    continuations = [f" {loaded.harmless(choice)}" for choice in choices]
    return Choices(loaded.harmless(text), continuations, special=True)


def _plain_prompt(loaded: LoadedModel, sent: Sent, room: int) -> list[int]:
    """Return the tokens of a plain request; a continued text that is too long loses its start."""
    text = sent.messages[-1]["content"]
    if not sent.continued:
        return question_tokens(loaded, text, room=room)
    return prompt_ids(loaded, loaded.harmless(text), special=True)[-(loaded.context - room) :]


def _measured(answer: Written, prompt: int) -> RawReply:
    surprise, entropy = -answer.log_probabilities.mean(), answer.entropies.mean()
    return RawReply(
        text=answer.text,
        finish=answer.finish,
        tokens_in=prompt,
        tokens_out=answer.tokens,
        tokens_cached=0,
        measures=Measures(float(surprise), float(entropy)),
    )


def _length(request: _Waiting) -> int:
    return sum(len(message["content"]) for message in request.sent.messages)


def _fail(request: _Waiting, error: Exception) -> None:
    """Fail a request, unless it already has a reply or was cancelled."""
    if not request.reply.done() and (
        request.reply.running() or request.reply.set_running_or_notify_cancel()
    ):
        request.reply.set_exception(error)


def _room(loaded: LoadedModel, prompt: int, requested: int) -> int:
    """Return the maximum number of reply tokens; raise CallError if the prompt leaves none."""
    if loaded.sequence_to_sequence:
        remaining, free = loaded.context - prompt + 1, loaded.context - 2
    else:
        remaining = free = loaded.context - prompt - 1
    if remaining < 1:
        words = f"{prompt} tokens in a context of {loaded.context}"
        raise CallError(Outcome.TOO_LONG, words)
    return min(requested, free)


def _matcher(grammars: Grammars, sent: Sent) -> Any:
    try:
        return grammars.matcher(sent.schema)
    except ValueError as error:
        words = f"the schema of {sent.schema_name} is no grammar: {error}"
        raise CallError(Outcome.INVALID, words) from None


def _is_out_of_memory(error: Exception) -> bool:
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    words = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in words or "can't allocate memory" in words
    )


def _free_memory() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
