"""Pages that show an edition: a folder for a browser, and the pieces for other places."""
