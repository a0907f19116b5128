"""A reader of passages that was trained, and the weights that it reads with."""
