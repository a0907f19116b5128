"""Pages that show an edition: files of a folder here, and the same pages in the service.

Rows become HTML in one way. A page is a function of the rows of one thing and of `Links`, which
decides where it leads to (`FolderLinks`: files; the service has its own):

- `entity.entities_page(entities, title, links)`: rows as `tasks.show.show_entity` returns them;
- `document.document_page(rows, links, part)`: rows as `document.document_rows` returns them;
- `relations.relation_pages(relations, links)`: relations with their facts;
- `records.record_page(name, con, home, edition, links)`: sources, runs, rejections, evaluations,
  editions, as tables with charts;
- `templates.page(name, links, title=…, here=…, **values)`: any other page, by a template that
  extends `base.html` (blocks `head` and `main`); `templates.page_pieces` yields it in pieces.

`write.write_report` reads all rows in sorted passes and hands them, a group at a time, to these
functions. A template looks nothing up and decides nothing but how things look; `static/` has the
style sheet and the script; nothing is loaded from anywhere else. The policy that each page
declares allows no scripts or styles within a page: no `style` attributes, no handlers. Drawings
are inline SVG whose elements have classes and attributes.
"""
