"""Databases in memory: users share an instance of DuckDB, and none sees another's tables."""

import pytest

from warehouse.home import Home
from warehouse.scratch import Scratch


def test_each_user_has_an_empty_database_that_is_gone_afterwards():
    scratch = Scratch()
    with scratch.database() as one, scratch.database() as other:
        for number, con in enumerate((one, other)):
            con.execute("create table boats as select ? as number", [number])
        assert [con.table("boats").fetchall() for con in (one, other)] == [[(0,)], [(1,)]]
    with scratch.database() as later:
        assert later.execute("show all tables").fetchall() == []


def test_a_user_that_fails_with_an_open_result_says_why():
    scratch = Scratch()
    with pytest.raises(OSError, match="full"), scratch.database() as con:
        con.sql("from range(1_000_000)").to_arrow_reader(1_000).read_next_batch()
        raise OSError("The disk is full.")
    with scratch.database() as later:
        assert later.execute("show all tables").fetchall() == []


def test_a_home_that_is_cleaned_can_spill_again(tmp_path):
    home = Home(tmp_path / "home")
    home.path.mkdir()
    for _ in range(2):
        with home.scratch.database() as con:
            con.execute("set memory_limit = '20MB'")
            con.execute("create table waves as select hash(range) from range(3000000)")
            assert any(home.spill.iterdir())
        home.clean()
        assert not home.spill.exists()
