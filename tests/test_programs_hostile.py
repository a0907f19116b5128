"""Programs that try to get out, and names that are not meant as names."""

import json
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.programs import functions
from tasks.programs.limits import Limits
from tasks.programs.program_run import run_program
from tasks.programs.sandbox import Sandbox, shared_sandbox
from tests.film_knowledge_base import films
from tests.graph_knowledge_base import GraphKnowledgeBase
from tests.hostile_programs import PROGRAMS, Traps, escape_programs, run_hostile, run_probes

QUICK = Limits(seconds=0.5, memory=64 << 20, calls=50, output=1_000)
ASK = "found, message = find_entity_or_value(['Alien'], ['director'])\n"
CLASS = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: object\n"
SHARED = "d = (1,)\nfor _ in range(50): d = (d, d, d)\n"
MUCH = "x = ['a' * 1000] * 30_000\n"


def error_of(code: str, limits: Limits = QUICK) -> str:
    return run_program(code, films(), "q", limits).error or ""


def test_no_escape_program_gets_out(almanac_data: Path, tmp_path: Path) -> None:
    if not (almanac_data / PROGRAMS).exists():
        pytest.skip(f"no {PROGRAMS}")
    with Traps(tmp_path) as traps:
        limits = Limits(seconds=0.15, memory=64 << 20, calls=200, output=50_000)
        found = run_hostile(traps, escape_programs(almanac_data), limits)
    assert not found["harmful"] and not found["late"] and not found["class_changed"]
    assert found["answers_afterwards"]
    assert found["longest_output"] <= 52_000 and found["memory_growth_mib"] <= 256


def test_the_operating_system_stops_what_the_interpreter_would_not(tmp_path: Path) -> None:
    with Traps(tmp_path) as traps:
        behind = run_probes(traps, confined=True)
        without = run_probes(traps, confined=False)
    assert behind["harmful"] == [] and behind["a_plain_script_runs"]
    assert set(without["harmful"]) >= {"write", "read", "net", "run", "leak"}


def test_a_limit_ends_the_worker_and_the_next_program_has_a_fresh_one() -> None:
    def worker() -> int:
        with shared_sandbox()._open().checkout() as session:
            return int(session.worker_pid)

    run_program("1", films(), "q")
    before = worker()
    assert worker() == before
    assert "TimeoutError" in error_of("while True: pass")
    after = worker()
    assert after != before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert run_program("1 + 1", films(), "q").result == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while True: pass", "TimeoutError"), ("x = 'a' * 10 ** 11", "MemoryError"),
        ("def f(): return f()\nf()", "RecursionError"), (f"while True:\n    {ASK}", "50 calls"),
        (f"while True:\n    try:\n        {ASK}    except BaseException: pass", "50 calls"),
        ("while True: print('x' * 1000)", "MemoryError"), ("def search(:\n    pass", "parameter"),
        ("1 / 0", "ZeroDivisionError"), ("x" * 200_000, "longer than"),
        ("del x; " + "-" * 90_000 + "1", "nested too deeply"),
        ("del x; y = " + "1+" * 20_000 + "1", "nested too deeply"),
        ("y = " + "1+" * 20_000 + "1", "nested"), ("del x; y = '\ud800'", "no program can have"),
        ("del x\0", "token"),
    ],
)  # fmt: skip
def test_every_limit_is_told_in_plain_words_and_in_time(code: str, words: str) -> None:
    began = time.perf_counter()
    assert words in error_of(code)
    assert time.perf_counter() - began < QUICK.seconds + 1


def test_what_helpers_compute_is_time_of_the_program() -> None:
    code = "while True: sort_values([f'{n} km' for n in range(2_000)])"
    began = time.perf_counter()
    assert "TimeoutError" in error_of(code, replace(QUICK, calls=1_000_000))
    assert time.perf_counter() - began < QUICK.seconds + 1


def test_a_failing_program_loses_no_message() -> None:
    run = run_program(f"def search():\n    {ASK}    answers.extend(found)\n    1 / 0", films(), "q")
    assert run.error == "ZeroDivisionError: division by zero"
    assert run.answers == ["Ridley Scott"] and "Ridley Scott" in run.knowledge[0]
    killed = run_program(f"{ASK}while True: pass", films(), "q", QUICK)
    assert killed.error and "Ridley Scott" in killed.knowledge[0]


def test_a_message_that_a_program_returns_is_not_said_twice() -> None:
    code = f"def search():\n    {ASK}    return message + ' / ' + message + ' So: he did.'"
    run = run_program(code, films(), "q")
    assert run.knowledge == [*run.messages, "So: he did."] and len(run.messages) == 1


def test_calls_that_take_too_long_stop_the_program() -> None:
    class Slow(GraphKnowledgeBase):
        def get_entity_triples(self, entity):  # type: ignore[no-untyped-def]
            time.sleep(0.1)
            return []

    slow = Slow.of(*[(f"e{n}", "r", "v") for n in range(50)])
    code = "for n in range(50): find_entity_or_value([f'e{n}'], ['r'])"
    began = time.perf_counter()
    run = run_program(code, slow, "q", Limits(call_seconds=0.3))
    assert run.error == "TimeoutError: calls took more than 0.3 s"
    assert time.perf_counter() - began < 2


def test_waiting_for_a_worker_is_no_time_of_the_program() -> None:
    def slow() -> int:
        time.sleep(1.0)
        return 1

    sandbox = Sandbox(workers=1)
    with ThreadPoolExecutor(2) as pool:
        ask = ("slow()", {"slow": slow}, {}, Limits(seconds=0.8))
        runs = [pool.submit(sandbox.run, *ask) for _ in range(2)]
        assert [run.result().error for run in runs] == [None, None]
    sandbox.close()


def test_a_number_beyond_all_bounds_is_no_answer() -> None:
    assert run_program("answers.extend([2 ** 70, 3.0])", films(), "q").answers == ["3"]


def test_arguments_on_their_way_are_the_programs_own_time() -> None:
    code = f"{MUCH}while True:\n    try: get_entity_info(x)\n    except BaseException: pass"
    began = time.perf_counter()
    run = run_program(code, films(), "q", Limits(seconds=0.5))
    # The calls themselves take a second on a slow machine; uncounted, it would be minutes.
    assert "TimeoutError" in str(run.error) and time.perf_counter() - began < 4


def test_what_a_knowledge_base_raises_says_nothing_of_ours() -> None:
    class Broken(GraphKnowledgeBase):
        def entity_linking(self, query, aliases):  # type: ignore[no-untyped-def]
            raise OSError("/srv/almanac/private/editions is gone")

    broken = Broken.of(("a", "b", "c"))
    run = run_program(f"def search():\n    {ASK}", broken, "q")
    assert run.error == "RuntimeError: find_entity_or_value() failed"
    caught = "try: get_entity_info(['a'])\nexcept Exception as e: result = repr(e)\nresult"
    assert "private" not in str(run_program(caught, broken, "q").result)


@pytest.mark.parametrize(
    "arguments",
    [
        "3, 4", "[], ['r']", "['  '], ['r']", "['a'] * 3 + [str(n) for n in range(100)], ['r']",
        "['x' * 5000], ['r']", "[1, 2], ['r']", "{'a': 1}, ['r']", "None, None", "['a']",
        "['a'], ['r'], 5", "entity=['a']",
    ],
)  # fmt: skip
def test_arguments_are_checked(arguments: str) -> None:
    call = f"find_entity_or_value({arguments})"
    code = f"try:\n    {call}\nexcept (ValueError, TypeError) as e:\n    r = str(e)\nr"
    run = run_program(code, films(), "q")
    assert run.error is None and run.result and not run.calls


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("d = [1]\nfor _ in range(6): d = [d] * 1000", list),
        ("d = {}\nfor _ in range(50): d = {'a': d, 'b': d, 'c': (d, d)}", dict),
        ("d = []\nd.append(d)\nd.append(d)", list),
        (f"{CLASS}d = A(1)\nfor _ in range(5_000): d = A([d, d])", str),
    ],
)
def test_a_value_that_stands_in_itself_a_million_times_is_bounded(value: str, found: type) -> None:
    began = time.perf_counter()
    run = run_program(f"{value}\nanswers.append(d)\nd", films(), "q")
    assert (run.error, type(run.result)) == (None, found)
    assert time.perf_counter() - began < 5 and sum(map(len, run.answers)) < 200_000


@pytest.mark.parametrize(
    "code",
    [
        "{d}", "{d: 1}", "answers.append({d})", "def search(): return {d}", "[{d}], \\",
        "f'{d}'", "get_entity_info({d})", "get_entity_info(entity_aliases={d})",
        f"{CLASS}get_entity_info(A({{d: 1}}))", "total([1, d])", "answers = {d}",
        "isinstance = lambda *_: True\ntype = str = len = None\n{d}",
        "try: 1 / 0\nexcept Exception as get_entity_info: pass\nget_entity_info({d})",
        "get_entity_info\nfor call in list(locals().values()):\n"
        "    try: call({d})\n    except Exception: pass",
    ],
)  # fmt: skip
def test_no_value_is_hashed_in_our_process(code: str) -> None:
    began = time.perf_counter()
    run = run_program(f"{SHARED}{code}", films(), "q", QUICK)
    assert run.error is None or len(run.error) < 200
    assert len(repr(run.result)) + len(repr(run.answers)) < 3_000
    assert time.perf_counter() - began < 2


def test_values_leave_a_program_plain() -> None:
    code = "[(1, {'a'}), {(1, 2): None}, 1.5, 'é', 1j, datetime.date(2020, 1, 2), A((1, True))]"
    run = run_program(f"{CLASS}{code}", films(), "q")
    assert run.result == [
        [1, ["a"]], {"[1, 2]": None}, 1.5, "é", "1j", "2020-01-02", "A(x=[1, True])"
    ]  # fmt: skip


def test_arguments_that_are_too_large_are_refused() -> None:
    assert error_of(f"{MUCH}get_entity_info(x)") == "ValueError: the arguments are too large"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("", None), ("# nothing", None), ("x = 1", None), ("变 = 'é'; (变).upper()", "É"),
        ("(\n  1,\n  2,\n)  # two", [1, 2]), ("if True: 3", None),
    ],
)  # fmt: skip
def test_the_last_line_of_a_program_is_its_result(code: str, result: object) -> None:
    run = run_program(code, films(), "q")
    assert (run.error, run.result) == (None, result)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("answers.append(A(10 ** 5000))", None),
        ("answers.extend([A, len, A(1), 1j, b'x' * 1000])", None),
        ("{A(1): 2}", None),
        ("answers.append({A(1)})", None),
    ],
)
def test_values_of_every_kind_are_the_programs_own_affair(value: str, error: str | None) -> None:
    run = run_program(f"{CLASS}{value}", films(), "q")
    assert run.error == error
    assert all(len(answer) <= 1_000 for answer in run.answers)


def test_the_records_of_calls_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MOST_KEPT", 2_000_000)
    code = (
        "for n in range(5_000):\n"
        "    get_entity_info([f'{n} {m} ' + 'x' * 1_900 for m in range(20)])"
    )
    run = run_program(code, films(), "q")
    kept = sum(len(alias) for call in run.calls for alias in call.aliases)
    assert "characters in all" in str(run.error) and kept <= 2_000_000


def forked() -> None:
    """Check it in a process of its own: a fork of one that runs tests has half of their threads."""
    assert run_program("1 + 1", films(), "q").result == 2
    with multiprocessing.get_context("fork").Pool(1) as pool:
        error = pool.apply_async(error_of, ("1 + 1",)).get(20)
    assert "forked" in error
    assert run_program("1 + 2", films(), "q").result == 3


def test_a_forked_process_is_told_that_it_cannot_run_programs() -> None:
    process = multiprocessing.get_context("spawn").Process(target=forked)
    process.start()
    process.join(120)
    assert process.exitcode == 0


def test_runs_do_not_see_each_other() -> None:
    run_program("kept = 5\nanswers.append('mine')", films(), "q")
    run = run_program("kept", films(), "q")
    assert "NameError" in str(run.error) and run.answers == []


def test_chance_is_seeded() -> None:
    code = "[random.random(), random.choice(range(1000))]"
    first, second = (run_program(code, films(), "q", seed=4).result for _ in range(2))
    assert first == second != run_program(code, films(), "q", seed=5).result


def test_naughty_strings_come_back_byte_for_byte(almanac_data: Path) -> None:
    listed = almanac_data / "hostile" / "blns.json"
    if not listed.exists():
        pytest.skip(f"no {listed}")
    strings = [text for text in json.loads(listed.read_text(encoding="utf-8")) if text.strip()]
    for text in dict.fromkeys(strings):
        kb = GraphKnowledgeBase.of(("hub", text, "value of " + text), (text, "is named", text))
        for name, relation, value in (("hub", text, "value of " + text), (text, "is named", text)):
            code = f"answers.extend(find_entity_or_value([{name!r}], [{relation!r}])[0] or [])"
            run = run_program(code, kb, text)
            assert run.answers == [value], text
            assert all("\n" not in message for message in run.messages)
