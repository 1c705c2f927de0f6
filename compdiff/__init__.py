"""compdiff."""
