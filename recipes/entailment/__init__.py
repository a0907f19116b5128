"""Training of the embedded verifier, which imports nothing from here when it is used."""
