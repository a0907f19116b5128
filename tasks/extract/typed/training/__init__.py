"""How the model of typed relations is trained."""
