"""How the reader is trained."""
