"""An edition over HTTP and MCP."""
