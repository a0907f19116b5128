"""Every stated alias has the places that state it, and no other alias's."""

import pytest

from flows.__main__ import main
from warehouse.editions import Edition
from warehouse.home import Home

TEXT = """# Hollow Creek Water Board

The Hollow Creek Water Board (HCWB) is an agency in Ruritania. It was founded in 1931.

The Hollow Creek Water Board, also known as Creek Board, sells water.
The board pays Repairs and Drainage Aid (RDA) to towns.
"""


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Edition:
    folder = tmp_path_factory.mktemp("aliases")
    (folder / "board.md").write_text(TEXT)
    (folder / "aid.md").write_text("Towns ask for repairs and drainage aid (RDA) in spring.\n")
    home = folder / "home"
    assert main(["refresh", str(folder / "*.md"), "--home", str(home)]) == 0
    return Home(home).require_edition()


def test_an_alias_leads_to_the_words_that_state_it(edition: Edition) -> None:
    with edition.connect() as database:
        rows = database.execute("""
        select alias, left(d.text[m.span_start - d.span_start + 1 :], 45) from aliases a
        join mentions m on m.fact_kind = 'alias' and m.fact_id = a.entity_id
            and m.stated in (select n || ' = ' || a.alias from unnest([
                'Hollow Creek Water Board', 'Repairs and Drainage Aid']) as u(n))
        join passages d using (passage_id)
        """).fetchall()
    assert dict(rows) == {
        "HCWB": "Hollow Creek Water Board (HCWB) is an agency ",
        "RDA": "Repairs and Drainage Aid (RDA) to towns.",
        "Creek Board": "Hollow Creek Water Board, also known as Creek",
    }


def test_every_document_of_an_entity_has_a_passage_that_mentions_it(edition: Edition) -> None:
    with edition.connect() as database:
        rows = database.execute("""
        select e.name, e.documents, count(distinct p.document_id) as with_passage
        from entities e left join entity_passages p using (entity_id)
        group by all having documents <> with_passage
        """).fetchall()
    assert rows == []
