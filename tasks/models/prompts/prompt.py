"""A prompt: a Markdown file with strict `$names`, its examples, and the schema of its reply.

The part above the divider is fixed and sent first, so that endpoints can cache it; the part below
changes with each call. Inserted texts are not searched for further names.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import orjson
from pydantic import BaseModel

from tasks.models.call import Request
from tasks.models.prompts import replies
from tasks.models.strict_schema import strict_schema

DIVIDER = "\n<!-- said anew in each call -->\n"
REPLIES: dict[str, type[BaseModel]] = {
    "extract": replies.Extraction,
    "extract_triples": replies.TripleExtraction,
    "extract_descriptions": replies.DescriptionExtraction,
    "extract_aspects": replies.AspectExtraction,
    "link": replies.Choice,
    "program": replies.Program,
    "answer": replies.AnswerReply,
    "cited": replies.CitedAnswer,
    "yes_no": replies.YesNo,
    "source": replies.Source,
    "needs_more": replies.NeedsMore,
    "wanted_information": replies.Information,
    "describe_graph": replies.Text,
    "rewrite": replies.Text,
    "recall": replies.Recalled,
}
PURPOSES = tuple(REPLIES)
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt for one purpose in one language, its fixed part complete."""

    purpose: str
    system: str
    user: str
    reply: type[BaseModel]
    sha: str

    def request(
        self,
        values: Mapping[str, str],
        *,
        most_tokens: int,
        document_id: str | None = None,
        passage_ids: tuple[str, ...] = (),
        sensitive: bool = False,
        doubt: Callable[[BaseModel], str | None] | None = None,
    ) -> Request:
        """Return the request with these values; raise KeyError for a missing or unknown name."""
        return Request(
            purpose=self.purpose,
            prompt_sha=self.sha,
            system=self.system,
            user=_filled(self.user, values),
            reply=self.reply,
            most_tokens=most_tokens,
            document_id=document_id,
            passage_ids=passage_ids,
            sensitive=sensitive,
            doubt=doubt,
        )


@cache
def _parts(purpose: str) -> tuple[str, str]:
    text = files(__package__).joinpath(f"{purpose}.md").read_text(encoding="utf-8")
    fixed, _, variable = text.partition(DIVIDER)
    return fixed.strip(), variable.strip()


@cache
def examples(purpose: str) -> dict[str, list[dict[str, Any]]]:
    """Return a purpose's examples by language, each with its values and its reply."""
    data = files(__package__).joinpath(f"{purpose}.examples.json").read_bytes()
    by_language: dict[str, list[dict[str, Any]]] = orjson.loads(data)
    return by_language


def load_prompt(
    purpose: str,
    language: str = "en",
    *,
    more: Sequence[Mapping[str, Any]] = (),
    **fixed: str,
) -> Prompt:
    """Return a prompt with its fixed part complete; raise KeyError for a missing or unknown name.

    `more` are further examples in the same form, added after the purpose's own. The prompt's hash
    covers everything that can change a reply: the templates, the examples of all languages, the
    reply's schema and the fixed values.
    """
    system, user = _parts(purpose)
    reply = REPLIES[purpose]
    language = language if language in LANGUAGES else LANGUAGES[0]
    shown = "\n".join(_shown(user, e) for e in (*examples(purpose)[language], *more))
    sha = hashlib.sha256(f"{system}{user}".encode())
    sha.update(orjson.dumps(examples(purpose)) + orjson.dumps(strict_schema(reply)))
    if more:
        sha.update(orjson.dumps(list(more)))
    for name, value in sorted(fixed.items()):
        sha.update(f"{name}\x1f{value}".encode())
    complete = _filled(system, {"examples": shown, **fixed})
    return Prompt(purpose, complete.strip(), user, reply, sha.hexdigest()[:16])


def purpose_of(system: str) -> str | None:
    """Return the purpose whose prompt has the same first line; None if there is none."""
    return _purposes().get(system.partition("\n")[0].strip())


@cache
def _purposes() -> dict[str, str]:
    return {_parts(purpose)[0].partition("\n")[0].strip(): purpose for purpose in PURPOSES}


def _shown(user: str, example: Mapping[str, Any]) -> str:
    reply = orjson.dumps(example["reply"]).decode()
    return f"{_filled(user, example['values'])}\nReply: {reply}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its names filled in; raise KeyError for a missing or unknown name."""
    names = Template(template)
    unknown = set(values) - set(names.get_identifiers())
    if unknown:
        raise KeyError(f"the prompt has no ${', $'.join(sorted(unknown))}")
    return names.substitute(values)
