"""Runs from files that others made: `import_traces` reads Kineto traces. torch is not needed."""

from compdiff.importers.run import Asked, import_traces, no_garbage_collection

__all__ = ["Asked", "import_traces", "no_garbage_collection"]
