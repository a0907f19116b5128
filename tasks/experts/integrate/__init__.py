"""Two ways in which an answering model uses experts: bottom-up and top-down (CooK, section 2)."""
