"""A server that speaks like Wikidata, Wikipedia and CN-DBpedia about a small invented world."""

import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

ENTITIES: dict[str, dict[str, Any]] = {
    "Q1": {
        "labels": {"en": "Mira Holt", "zh": "米拉·霍尔特"},
        "descriptions": {"en": "Norwegian composer", "zh": "挪威作曲家"},
        "aliases": ["M. Holt"],
        "sitelinks": {"enwiki": "Mira Holt"},
        "claims": [
            ("P19", "normal", "wikibase-item", "Q3"),
            ("P569", "normal", "time", ("+1952-03-11T00:00:00Z", 11)),
            ("P26", "deprecated", "wikibase-item", "Q2"),
            ("P106", "normal", "wikibase-item", "Q2"),
            ("P106", "preferred", "wikibase-item", "Q4"),
            ("P2048", "normal", "quantity", ("+1.72", "http://www.wikidata.org/entity/Q5")),
            ("P214", "normal", "external-id", "1234567"),
            ("P1559", "normal", "monolingualtext", "Mira Holt"),
            ("P625", "normal", "globe-coordinate", (60.39299, 5.32415)),
            ("P40", "normal", "quantity", ("+2", "1")),
        ],
    },
    "Q2": {"labels": {"en": "Mira Holt"}, "descriptions": {"en": "ferry on a lake"}},
    "Q3": {
        "labels": {"mul": "Bergen"},
        "descriptions": {"en": "city in Norway"},
        "sitelinks": {"enwiki": "Bergen"},
        "claims": [("P1082", "normal", "quantity", ("+285601", "1"))],
    },
    "Q4": {"labels": {"en": "composer"}},
    "Q5": {"labels": {"en": "metre"}},
    "Q6": {"labels": {"en": "The Long Fjord"}, "descriptions": {"en": "opera"}},
    **{
        one: {"labels": {"en": name}}
        for one, name in {
            "P19": "place of birth", "P569": "date of birth", "P26": "spouse", "P86": "composer",
            "P106": "occupation", "P2048": "height", "P1559": "name in native language",
            "P625": "coordinate location", "P40": "child", "P1082": "population",
        }.items()
    },
}  # fmt: skip
REFERRING = {"Q1": [("Q6", "P86")], "Q3": [("Q1", "P19")]}
PAGES: dict[str, dict[str, Any]] = {
    "Mira Holt": {"extract": "Mira Holt is a composer of operas.", "item": "Q1"},
    "Mira Holt (ship)": {"extract": "The Mira Holt is a ferry.", "item": "Q2"},
    "Holt": {"extract": "Holt may refer to:", "disambiguation": True},
    "Bergen": {"extract": "Bergen is a city by the sea.", "item": "Q3"},
    "Fjord songs": {"extract": "Fjord songs are sung on boats."},
}
REDIRECTS = {"M. Holt": "Mira Holt", "Bjorgvin": "Bergen"}
MENTIONS = {
    "李明": ["李明（挪威作家）", "李明（足球运动员）", "李明"],
    "小李": ["李明（挪威作家）"],
}
PAIRS = {
    "李明（挪威作家）": [
        ["DESC", "李明是一位写海的作家。"], ["出生地", "<a href='/x'>卑尔根</a>"],
        ["代表作品", "长峡湾"], ["代表作品", "船歌"],
        ["CATEGORY_ZH", "人物"], ["CATEGORY_ZH", "作家"],
    ],
    "李明（足球运动员）": [["CATEGORY_ZH", "运动员"]],
}  # fmt: skip
Fault = Callable[["Handler"], None]


@dataclass
class World:
    """Where the server listens, what it was asked, and how it misbehaves."""

    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    faults: list[Fault | None] = field(default_factory=list)  # one for each request, in order
    always: Fault | None = None
    at_once: int = 0
    most_at_once: int = 0
    delay: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def settings(self, **changes: Any) -> dict[str, Any]:
        """Return settings that lead here; the query service has a host name of its own."""
        here = f"http://127.0.0.1:{self.port}"
        return {
            "remote": True,
            "wikipedia_url": f"{here}/{{language}}/w/api.php",
            "wikidata_url": f"{here}/wikidata/w/api.php",
            "wikidata_sparql_url": f"http://localhost:{self.port}/sparql",
            "cndbpedia_url": f"{here}/api/cndbpedia",
            **changes,
        }

    def requests(self, part: str) -> list[dict[str, str]]:
        """Return the parameters of the requests that went to paths with this part."""
        return [params for path, params in self.asked if part in path]


class Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests."""

    protocol_version = "HTTP/1.1"
    world: World

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:  # noqa: N802 - the base class wants this name
        """Answer, or misbehave as the test wishes."""
        world, parts = self.world, urlsplit(self.path)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with world.lock:
            world.asked.append((parts.path, params))
            world.agents.add(self.headers["User-Agent"])
            fault = world.faults.pop(0) if world.faults else world.always
            world.at_once += 1
            world.most_at_once = max(world.most_at_once, world.at_once)
        try:
            time.sleep(world.delay)
            if fault is None:
                self.reply(200, json.dumps(answer(parts.path, params)).encode())
            else:
                fault(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough, as it should
        finally:
            with world.lock:
                world.at_once -= 1

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        """Send a reply; `_` stands for `-` in names of headers."""
        if "gzip" in self.headers.get("Accept-Encoding", "") and not headers:
            body, headers = gzip.compress(body), {"Content_Encoding": "gzip"}
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running() -> Iterator[World]:
    """Run a server in threads of this process."""
    world = World()
    handler = type("OwnHandler", (Handler,), {"world": world})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    world.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(path: str, params: dict[str, str]) -> Any:
    """Return what the real services return to such a request."""
    if path == "/sparql":
        return _sparql(params["query"])
    if path.startswith("/api/cndbpedia/"):
        return _cndbpedia(path.rpartition("/")[2], params)
    action = params.get("action")
    if action == "wbsearchentities":
        return _search_entities(params)
    if action == "wbgetentities":
        found = {one: _entity(one, params) for one in params["ids"].split("|")}
        return {"entities": found, "success": 1}
    if action == "opensearch":
        wanted = params["search"].casefold()
        found = [title for title in PAGES if title.casefold().startswith(wanted)]
        return [params["search"], found, ["" for _ in found], ["" for _ in found]]
    if action == "query" and params.get("list") == "search":
        return _full_text(path, params["srsearch"].casefold())
    if action == "query":
        return _pages(params["titles"].split("|"))
    return {"error": {"code": "badvalue", "info": f"Unrecognized value: {action}."}}


def _search_entities(params: dict[str, str]) -> Any:
    wanted, language, hits = params["search"].casefold(), params["language"], []
    for one, entity in ENTITIES.items():
        label = entity["labels"].get(language) or next(iter(entity["labels"].values()))
        names = [label, *entity.get("aliases", [])]
        match = next((name for name in names if name.casefold().startswith(wanted)), None)
        if match and one.startswith("Q"):
            description = entity.get("descriptions", {}).get(language, "")
            hits.append(
                {
                    "id": one, "title": one, "label": label, "description": description,
                    "display": {"label": {"value": label, "language": language}},
                    "match": {"type": "label", "language": language, "text": match},
                    **({"aliases": [match]} if match != label else {}),
                }
            )  # fmt: skip
    return {"searchinfo": {"search": params["search"]}, "search": hits, "success": 1}


def _entity(one: str, params: dict[str, str]) -> Any:
    if one not in ENTITIES:
        return {"id": one, "missing": ""}
    entity, props = ENTITIES[one], params["props"].split("|")
    record: dict[str, Any] = {"type": "item", "id": one}
    for name in ("labels", "descriptions"):
        if name in props:
            asked, texts = params["languages"].split("|"), entity.get(name, {})
            record[name] = {a: {"language": a, "value": texts[a]} for a in texts if a in asked}
    if "claims" in props:
        record["claims"] = _claims(one, entity.get("claims", []))
    if "sitelinks" in props:
        site = params["sitefilter"]
        links = {s: t for s, t in entity.get("sitelinks", {}).items() if s == site}
        record["sitelinks"] = {s: {"site": s, "title": t, "badges": []} for s, t in links.items()}
    return record


def _claims(one: str, claims: list[tuple[str, str, str, Any]]) -> Any:
    groups: dict[str, list[Any]] = {}
    for number, (prop, rank, datatype, value) in enumerate(claims):
        snak = {
            "snaktype": "value", "property": prop, "datatype": datatype,
            "datavalue": _datavalue(datatype, value),
        }  # fmt: skip
        groups.setdefault(prop, []).append(
            {"mainsnak": snak, "type": "statement", "id": f"{one}${number}", "rank": rank}
        )
    snak = {"snaktype": "somevalue", "property": "P26", "datatype": "wikibase-item"}
    unknown = {"mainsnak": snak, "type": "statement", "id": f"{one}$unknown", "rank": "normal"}
    groups.setdefault("P26", []).append(unknown)
    return groups


def _datavalue(datatype: str, value: Any) -> Any:
    if datatype == "wikibase-item":
        item = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
        return {"type": "wikibase-entityid", "value": item}
    if datatype == "time":
        model = "http://www.wikidata.org/entity/Q1985727"
        time = {"time": value[0], "precision": value[1], "timezone": 0, "calendarmodel": model}
        return {"type": "time", "value": time}
    if datatype == "quantity":
        return {"type": "quantity", "value": {"amount": value[0], "unit": value[1]}}
    if datatype == "monolingualtext":
        return {"type": "monolingualtext", "value": {"text": value, "language": "nb"}}
    if datatype == "globe-coordinate":
        place = {"latitude": value[0], "longitude": value[1], "precision": 0.001}
        return {"type": "globecoordinate", "value": place}
    return {"type": "string", "value": value}


def _sparql(query: str) -> Any:
    match = re.search(r"wd:(Q\d+) ", query)
    rows = [
        {
            name: {"type": "uri", "value": f"http://www.wikidata.org/entity/{one}"}
            for name, one in zip(("subject", "property"), pair, strict=True)
        }
        for pair in REFERRING.get(match[1] if match else "", [])
    ]
    return {"head": {"vars": ["subject", "property"]}, "results": {"bindings": rows}}


def _full_text(path: str, wanted: str) -> Any:
    if path.startswith("/wikidata/"):
        hits = [one for one, e in ENTITIES.items() if wanted in str(e["labels"]).casefold()]
    else:
        hits = [title for title, page in PAGES.items() if wanted in page["extract"].casefold()]
    return {"batchcomplete": True, "query": {"search": [{"ns": 0, "title": h} for h in hits]}}


def _pages(titles: list[str]) -> Any:
    steps = [{"from": title, "to": REDIRECTS[title]} for title in titles if title in REDIRECTS]
    pages = []
    for title in dict.fromkeys(REDIRECTS.get(title, title) for title in titles):
        page = PAGES.get(title)
        if page is None:
            pages.append({"ns": 0, "title": title, "missing": True})
            continue
        props = {"wikibase_item": page["item"]} if "item" in page else {}
        props |= {"disambiguation": ""} if "disambiguation" in page else {}
        shown = {"pageid": 1, "ns": 0, "title": title, "extract": page["extract"]}
        pages.append(shown | ({"pageprops": props} if props else {}))
    return {"batchcomplete": True, "query": {"redirects": steps, "pages": pages}}


def _cndbpedia(function: str, params: dict[str, str]) -> Any:
    if params.get("apikey") == "wrong-key-0001":
        return {"status": "fail", "msg": "apikey error"}
    if function == "ment2ent":
        return {"status": "ok", "ret": MENTIONS.get(params["q"], [])}
    return {"status": "ok", "ret": PAIRS.get(params["q"], [])}
