"""Chapters 10 to 18, each alone in an empty folder."""

from tests.alone import CHAPTERS, each, installed, run_alone  # noqa: F401


@each(CHAPTERS[9:])
def test_runs_alone(notebook, installed, tmp_path):  # noqa: F811
    run_alone(notebook, installed, tmp_path)
