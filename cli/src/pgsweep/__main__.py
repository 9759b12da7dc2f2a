"""`python -m pgsweep` is the command."""

from pgsweep.cli import main

if __name__ == "__main__":
    main()
