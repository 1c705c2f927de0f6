"""Tests of compdiff, mirroring its modules."""
