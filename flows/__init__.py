"""Scheduled flows and the command line: one story a file."""
