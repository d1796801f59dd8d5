"""`python book/claims` runs every check, `python book/claims ID …` some of them; see the package's
first lines.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "book")]
import claims  # noqa: E402
from lectures_lib.data import mirror  # noqa: E402

MISSING = "not computed: it counts GLUE's examples, and LECTURES_DATA names no folder"


def main() -> None:
    """The command line."""
    chosen = [
        claim for claim in claims.read()["claims"] if not sys.argv[1:] or claim.id in sys.argv[1:]
    ]
    if not chosen:
        sys.exit(f"no such claim: {', '.join(sys.argv[1:])}")
    failed = 0
    for claim in chosen:
        if claim.needs and not mirror():
            print(f"{claim.id:28} {MISSING}")
            continue
        wrong = claims.differences(claim) if claim.check else []
        failed += bool(wrong)
        print(
            f"{claim.id:28} {claim.verdict:14} {claim.printed}",
            *(f"  BUT {line}" for line in wrong),
            sep="\n" if wrong else "",
        )
    sys.exit(f"{failed} of {len(chosen)} rows differ from what was computed" if failed else 0)


if __name__ == "__main__":
    main()
