"""What a corpus is about, as its users say: kinds and relations, read, checked, and proposed."""
