"""The steps of entity resolution; `tasks.resolve` puts them together."""
