"""Knowledge graphs as arrays: look-ups in microseconds, without a database."""
