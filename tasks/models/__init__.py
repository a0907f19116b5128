"""Calling language models: one door for every purpose, every engine and every account."""
