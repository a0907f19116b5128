"""A strong model's replies to `cited` prompts, recorded once and given again without a model.

A reply is kept with its question, and with the words that it quoted instead of the numbers of their
sources. It is given again if all these words stand in the sources that the prompt shows; otherwise
the model "finds nothing" and asks for the search that it was recorded with. So figures show what
changes in retrieval, context and verification do, though nobody writes replies anew.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tasks.extract.by_model.located import Searchable
from tasks.models.tokens import estimate_tokens

_SOURCE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_MARK = re.compile(r"\[(\d+)\]")
NOTHING = {"quotes": [], "found": "no", "answer": "", "values": [], "search": [], "compute": "no"}
Reply = dict[str, Any]


def read_replies(path: Path) -> dict[str, Reply]:
    """Return recorded replies by their questions."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["question"]: row["reply"] for row in rows}


def recorded(sources: str, reply: Reply) -> Reply:
    """Return a reply as it is kept: a mark names a quotation of the reply, not its source.

    Marks of sources that were not quoted are quoted by their beginning.
    """
    texts = _texts(sources)
    quotes = [[number, words] for number, words in reply["quotes"] if words.strip()]
    cited = dict.fromkeys(_MARK.findall(reply["answer"]))
    for number in cited:
        if number in texts and not any(number == source for source, _ in quotes):
            quotes.append([number, texts[number][:80]])
    places = {number: [n for n, (s, _) in enumerate(quotes, 1) if s == number] for number in cited}
    answer = _MARK.sub(lambda m: "".join(f"[{n}]" for n in places[m[1]][:1]), reply["answer"])
    return {**reply, "quotes": [words for _, words in quotes], "answer": answer}


def replayed(sources: str, kept: Reply) -> Reply:
    """Return a kept reply with the numbers of these sources; nothing found if one is missing."""
    texts = {number: Searchable(text) for number, text in _texts(sources).items()}
    numbers = [
        next((number for number, text in texts.items() if text.find(words)), None)
        for words in kept["quotes"]
    ]
    if None in numbers:
        return {**NOTHING, "search": kept["search"]}
    answer = _MARK.sub(lambda mark: f"[{numbers[int(mark[1]) - 1]}]", kept["answer"])
    quotes = [list(pair) for pair in zip(numbers, kept["quotes"], strict=True)]
    search = [] if kept["found"] == "yes" else kept["search"]
    return {**kept, "quotes": quotes, "answer": answer, "search": search}


def halves(user: str) -> tuple[str, str]:
    """Return the sources and the question of a `cited` prompt."""
    sources, _, question = user.rpartition("\nQuestion: ")
    return sources.removeprefix("Sources:\n"), question.partition("\n\n")[0]


def _texts(sources: str) -> dict[str, str]:
    parts = _SOURCE.split(sources)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@contextmanager
def recorded_endpoint(replies: dict[str, Reply]) -> Iterator[str]:
    """Serve recorded replies on the loopback interface; yield the address."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

        def do_POST(self) -> None:
            """Answer a chat completion."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = [message["content"] for message in body["messages"]]
            sources, question = halves(messages[1])
            kept = replies.get(question)
            text = json.dumps(replayed(sources, kept) if kept else NOTHING, ensure_ascii=False)
            usage = {
                "prompt_tokens": sum(map(estimate_tokens, messages)),
                "completion_tokens": estimate_tokens(text),
                "prompt_tokens_details": {"cached_tokens": estimate_tokens(messages[0])},
            }
            choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            data = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
