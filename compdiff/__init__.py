"""compdiff shows what torch.compile did to a function."""

__version__ = "0.1.0"
