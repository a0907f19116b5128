"""Calling language models: one client for every purpose, every engine and every endpoint."""
