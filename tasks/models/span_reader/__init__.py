"""A small model that finds the words of a text that answer a question."""
