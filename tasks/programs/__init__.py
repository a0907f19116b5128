"""Search programs: written by a model or planned, run in a sandbox over knowledge bases."""
