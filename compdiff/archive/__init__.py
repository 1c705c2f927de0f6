"""Keeps runs. In: runs, and a location. Out: runs again, by id, tag, commit or age; entries with their keys and numbers.

An archive is an index, which says what there is, and blobs, which hold it, each named by the hash of its content. The
index is SQLite in a folder, or PostgreSQL by its URL; blobs are files, or objects that fsspec reaches. Importing this
loads neither SQLAlchemy nor fsspec: they come in where a URL asks for them.
"""

from compdiff.archive.archive import Archive
from compdiff.archive.entry import Commit, Entry, Filter, Pin, RunId

__all__ = ["Archive", "Commit", "Entry", "Filter", "Pin", "RunId"]
