"""The parameters that an endpoint accepts, determined once for all calls of the run.

The fullest dialect is tried first. An endpoint that refuses a parameter replies with status 400,
and from then on all calls omit it. A refused call costs nothing.
"""

from dataclasses import dataclass
from typing import Any

from tasks.models.call import Sent

FORMS = ("schema", "json", "text")  # how JSON is requested: by schema, by JSON mode, in words alone
ROOM = ("max_tokens", "max_completion_tokens")
RIVALS = (20, 5, 0, None)  # likeliest tokens listed per token; None: no probabilities at all


@dataclass(slots=True)
class Dialect:
    """The optional parameters that are sent to this endpoint."""

    form: str = FORMS[0]
    room: str = ROOM[0]
    temperature: bool = True
    rivals: int | None = RIVALS[0]
    streams: bool = True

    def start_with(self, form: str | None) -> None:
        """Begin with the form of JSON request that worked last time, if it is known."""
        if form in FORMS:
            self.form = str(form)

    def parameters(self, sent: Sent) -> dict[str, Any]:
        """Return the parameters of one call other than model and messages."""
        parameters: dict[str, Any] = {self.room: sent.most_tokens}
        if self.temperature:
            parameters["temperature"] = 0
        if sent.listener is not None and self.streams:
            parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        if sent.plain:
            return parameters | self._logprobs()
        if self.form == "schema":
            named = {"name": sent.schema_name, "strict": True, "schema": sent.schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.form == "json":
            parameters["response_format"] = {"type": "json_object"}
        return parameters

    def _logprobs(self) -> dict[str, Any]:
        if self.rivals is None:
            return {}
        return {"logprobs": True} | ({"top_logprobs": self.rivals} if self.rivals else {})

    def step_down(self, refused: str, refused_parameters: dict[str, Any]) -> bool:
        """Drop the parameter that a refusal names; return False if it names no known one.

        `refused_parameters` are the parameters of the refused call: if another call has stepped
        down since it was sent, this call need only be sent again.
        """
        words = refused.lower()
        if "response_format" in words or "json_schema" in words or "json_object" in words:
            form = self._form_of(refused_parameters)
            if form == FORMS[-1]:
                return False
            if form == self.form:
                self.form = FORMS[FORMS.index(form) + 1]
            return True
        if ROOM[0] in words or ROOM[1] in words:
            room = next(name for name in ROOM if name in refused_parameters)
            if room == ROOM[1]:
                return False
            self.room = ROOM[1]
            return True
        if "logprobs" in words and "logprobs" in refused_parameters:
            rivals = refused_parameters.get("top_logprobs", 0)
            if rivals == self.rivals:
                self.rivals = RIVALS[RIVALS.index(rivals) + 1]
            return True
        if "stream" in words and "stream" in refused_parameters:
            self.streams = False
            return True
        if "temperature" in words and "temperature" in refused_parameters:
            self.temperature = False
            return True
        return False

    @staticmethod
    def _form_of(refused_parameters: dict[str, Any]) -> str:
        kind = refused_parameters.get("response_format", {}).get("type")
        return {"json_schema": "schema", "json_object": "json"}.get(kind, "text")
