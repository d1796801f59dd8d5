"""`python book/slides [NN] [FOLDER]`: see the package's first lines."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import slides


def main() -> None:
    """The command line."""
    chosen = [word for word in sys.argv[1:] if word in slides.decks()]
    folders = [word for word in sys.argv[1:] if word not in slides.decks()]
    folder = Path(folders[0]) if folders else slides.ROOT / "_build" / "slides"
    start = time.monotonic()
    pages = slides.build(folder, chosen)
    print(f"{len(pages)} decks in {time.monotonic() - start:.1f} s: {folder}/NN.html")


if __name__ == "__main__":
    main()
