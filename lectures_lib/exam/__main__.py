"""python -m lectures_lib.exam: write a sheet of questions and one of solutions,
for the printer (.html) and to be changed (.md)."""

import argparse
import sys
from pathlib import Path

from lectures_lib.exam import sheet
from lectures_lib.files import write_whole


def main() -> None:
    """Read the command line and write."""
    ask = argparse.ArgumentParser(prog="python -m lectures_lib.exam", description=__doc__)
    ask.add_argument("--seed", type=int, default=0, help="draws questions and numbers")
    ask.add_argument("--points", type=int, default=60, help="of the sheet, at most")
    ask.add_argument("--chapters", type=int, nargs="*", default=(), help="only about these")
    ask.add_argument("--out", type=Path, default=Path("exam"), help="folder")
    ask.add_argument("--page", type=Path, help="write the site's page of all questions instead")
    given = ask.parse_args()
    if given.page:
        write_whole(given.page, sheet.page())
        return
    try:
        for path in sheet.write(given.out, given.points, given.seed, given.chapters):
            print(path)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
