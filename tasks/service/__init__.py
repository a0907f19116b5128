"""A home as a service: HTTP for programs, pages for people, MCP for models.

A request passes `guard.py` (host, origin, size, token, rate), is read from an edition that
`shelf.py` holds open, and is answered by `api.py` (JSON), `explorer.py` (pages of `tasks.report`)
or `mcp_server.py`. All three take their rows from `readings.py`.
"""
