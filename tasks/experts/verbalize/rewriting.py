"""Training texts rewritten by a model; a rewritten text that lacks a name is not used."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tasks.experts.verbalize.texts import Text, says_all
from tasks.models.client import BlockingClient
from tasks.models.prompts.prompt import load_prompt
from tasks.models.prompts.replies import Text as TextReply
from tasks.text.languages import language_of

REPLY_TOKENS = 512
Mapped = Callable[[Callable[[Text], Text], Iterable[Text]], Iterable[Text]]


class Rewriter:
    """Rewrites texts that were made from triples, several in parallel."""

    def __init__(self, model: BlockingClient, mapped: Mapped) -> None:
        """Take the model and `mapped`, a `map` that may call it from several threads."""
        self._model, self._mapped = model, mapped

    def rewritten(self, texts: Sequence[Text]) -> list[Text]:
        """Return the texts in order, rewritten if the model's text has every name.

        Questions and passages stay as they are.
        Raises AlmanacError if the model cannot reply.
        """
        return list(self._mapped(self._rewrite, texts))

    def _rewrite(self, text: Text) -> Text:
        facts: list[tuple[str, str, str]] = text["facts"]
        # A description instead of a question would teach no answer.
        if not facts or text["method"] == "question":
            return text
        language = language_of(text["text"])
        triples = "\n".join(" | ".join(fact) for fact in facts)
        request = load_prompt("describe_graph", language).request(
            {"triples": triples}, most_tokens=REPLY_TOKENS
        )
        reply: Any = self._model.ask(request).reply
        if not isinstance(reply, TextReply):
            return text
        fresh = {**text, "text": reply.text, "rewritten": True}
        return fresh if says_all(fresh) else text
