"""Read: search, explain, judge. Everything a person or a program asks of an archive."""
