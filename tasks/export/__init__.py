"""An edition in the formats of other tools."""
