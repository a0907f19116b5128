"""A few films as triples, for systems that are measured on them."""

FILMS = [
    ("The Long Ferry", "directed_by", "Ida Berg"),
    ("The Long Ferry", "starred_actors", "Tom Vale"),
    ("The Long Ferry", "release_year", "1931"),
    ("Cold Harbour", "directed_by", "Ida Berg"),
    ("Cold Harbour", "starred_actors", "Una Reed"),
    ("Cold Harbour", "release_year", "1934"),
    ("Green Hill", "directed_by", "Max Oster"),
    ("Green Hill", "starred_actors", "Una Reed"),
    ("Green Hill", "release_year", "1940"),
]
