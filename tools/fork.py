"""Make every link point to a fork: `python tools/fork.py your-name/your-repository`.

The repository is named once, in _config.yml. Whatever must carry the address itself (a notebook's
set-up cell, the package's metadata, the README) is rewritten here, in every file that git tracks.
"""

import re
import subprocess
import sys
from pathlib import Path

import yaml

from lectures_lib.homework import release

ROOT = Path(__file__).resolve().parent.parent


def current(root: Path) -> str:
    """owner/name as _config.yml has it."""
    url = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    return url.removeprefix("https://github.com/").removesuffix("/")


def pages(slug: str) -> str:
    """Where GitHub Pages publishes the site of owner/name."""
    return release.pages(*slug.split("/"))


def rewrite(root: Path, old: str, new: str) -> list[str]:
    """Replace the old address by the new one in every tracked text file; the names of the files
    changed.
    """
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    changed = []
    # In one pass: owner/owner.github.io, the repository, has its site's address in it.
    # A longer name is another's.
    addresses = re.compile(rf"(?<![\w.-])(?:{re.escape(old)}|{re.escape(pages(old))})(?![\w-])")
    for name in filter(None, tracked):
        path = root / name
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        mended = addresses.sub(lambda found: new if found.group() == old else pages(new), text)
        if mended != text:
            path.write_text(mended, encoding="utf-8")
            changed.append(name)
    return changed


def main() -> None:
    """The command line."""
    if len(sys.argv) != 2 or not re.fullmatch(r"[\w.-]+/[\w.-]+", sys.argv[1]):
        sys.exit(
            "Say which repository the links should point to: make fork TO=your-name/your-repository"
        )
    old, new = current(ROOT), sys.argv[1]
    if old == new:
        sys.exit(f"The links already point to {new}.")
    changed = rewrite(ROOT, old, new)
    print(f"{old} → {new} in {len(changed)} files:", *changed, sep="\n  ")
    print("Look at `git diff`, then commit.")


if __name__ == "__main__":
    main()
