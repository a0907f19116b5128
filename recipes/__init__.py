"""What makes the weights that the product carries: README.md lists file, command and data."""
