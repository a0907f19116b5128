"""How the English pipeline is trained; nothing here is needed to use it."""
