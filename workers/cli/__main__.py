"""Run the command line as ``python -m workers.cli``."""

from workers.cli.main import main

if __name__ == "__main__":
    main()
