"""The solved homework, each alone in an empty folder."""

from tests.alone import SOLUTIONS, each, installed, run_alone  # noqa: F401


@each(SOLUTIONS)
def test_runs_alone(notebook, installed, tmp_path):  # noqa: F811
    run_alone(notebook, installed, tmp_path)
