"""`python -m compdiff`."""

from compdiff.cli import main

if __name__ == "__main__":
    main()
