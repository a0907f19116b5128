"""How much knowledge helps a model: every question is asked without and with a passage."""
