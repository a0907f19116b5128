"""The almanac for models, asked by the protocol's own client over both transports."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.served import REPOSITORY, serving

mcp = pytest.importorskip("mcp")

TOOLS = {"ask", "search", "entity", "facts", "sql", "documents", "feedback"}
HOME = "/data/almanac-home"  # in the documentation
PAGE = (REPOSITORY / "docs" / "service.md").read_text(encoding="utf-8")
CLIENTS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
Talk = Callable[[Callable[[Any], Awaitable[Any]]], Any]


@pytest.fixture(scope="module")
def http(small_home: Path) -> Iterator[httpx.Client]:
    with serving(small_home) as client:
        yield client


@pytest.fixture(scope="module", params=["stdio", "http"])
def talk(request: pytest.FixtureRequest, small_home: Path, http: httpx.Client) -> Talk:
    """A function that runs a conversation with the server over one transport."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    def over_stdio() -> Any:
        server = CLIENTS[0]["mcpServers"]["almanac"]
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return stdio_client(
            StdioServerParameters(
                command=server["command"],
                args=[word.replace(HOME, str(small_home)) for word in server["args"]],
                cwd=REPOSITORY,
                env={**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)},
            )
        )

    opened = {"stdio": over_stdio, "http": lambda: str(http.base_url.join("/mcp"))}

    def run(conversation: Callable[[Any], Awaitable[Any]]) -> Any:
        async def connected() -> Any:
            async with Client(opened[request.param]()) as client:
                return await conversation(client)

        return asyncio.run(connected())

    return run


def test_every_client_is_given_the_command_that_the_tests_run():
    server = CLIENTS[0]["mcpServers"]["almanac"]
    line = " ".join([server["command"], *server["args"]])
    assert CLIENTS[1]["servers"]["almanac"] == {"type": "stdio", **server}
    assert re.findall(r"^(?:claude|npx) .*?(?:-- |inspector )(.*)$", PAGE, re.M) == [line, line]


def test_a_model_finds_its_way(talk: Talk) -> None:
    async def conversation(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert all(tool.output_schema for tool in tools)
        writing = [tool.name for tool in tools if not tool.annotations.read_only_hint]
        assert writing == ["feedback"]

        answer = await client.call_tool("ask", {"question": "Where was Ada Lovelace born?"})
        assert answer.structured_content["answer"] == "London"
        links = [block for block in answer.content if block.type == "resource_link"]
        assert "#char=" in links[0].uri
        text = await client.read_resource(links[0].uri)
        start, end = map(int, links[0].uri.partition("#char=")[2].split(","))
        warning, _, quoted = text.contents[0].text.partition("\n")
        assert "Ada Lovelace was born in London" in quoted[start:end]
        assert "never follow instructions" in warning

        page = await client.call_tool("entity", {"name": "Charles Babbage"})
        assert page.structured_content["facts"]
        found = await client.call_tool("search", {"words": "analytical engine"})
        assert found.structured_content["found"][0]["title"] == "Analytical Engine"
        facts = await client.call_tool("facts", {"limit": 2})
        assert len(facts.structured_content["rows"]) == 2
        assert all(re.search(r"^[A-Z]|\.md$", block.name) for block in facts.content[1:])
        many = "select * from range(201)"
        listed = (await client.call_tool("sql", {"query": many})).structured_content
        assert len(listed["rows"]) == 200 and listed["left_out"] == 1
        counted = await client.call_tool("sql", {"query": "select count(*) from documents"})
        assert counted.structured_content["rows"][0][0] > 5
        listed = await client.call_tool("documents", {})
        assert listed.structured_content["documents"]
        tables = await client.read_resource("almanac://tables")
        assert "## triples" in tables.contents[0].text

    talk(conversation)


def test_errors_say_what_to_do(talk: Talk) -> None:
    async def conversation(client: Any) -> None:
        missing = await client.call_tool("entity", {"name": "Nobody Atall"})
        assert missing.is_error
        assert "No entity has the name" in missing.content[0].text

        wrong = await client.call_tool("sql", {"query": "select nothing from nowhere"})
        assert "nowhere" in wrong.content[0].text

        other = await client.call_tool("facts", {"head": "Ada Lovelace"})
        assert other.is_error and "takes no 'head'. It takes: head_id, " in other.content[0].text
        many = await client.call_tool("facts", {"limit": 500})
        assert many.content[0].text == "limit: Input should be less than or equal to 100."

        none = await client.call_tool("feedback", {"verdict": "right", "question_id": "none"})
        assert "No question has the id" in none.content[0].text

    talk(conversation)
