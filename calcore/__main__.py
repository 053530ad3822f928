"""``python -m calcore``: the command line."""

from calcore.cli import main

if __name__ == "__main__":
    main(prog_name="calcore")
