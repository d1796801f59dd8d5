"""What Gradescope's specification allows in results.json, by hand from its text."""

import json

TOP = {
    "score",
    "execution_time",
    "output",
    "output_format",
    "test_output_format",
    "test_name_format",
    "visibility",
    "stdout_visibility",
}
TOP |= {"extra_data", "tests", "leaderboard"}
TEST = {
    "score",
    "max_score",
    "status",
    "name",
    "name_format",
    "number",
    "output",
    "output_format",
    "tags",
    "visibility",
    "extra_data",
}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}


def conforming(text: str) -> dict:
    """The JSON, held against the specification."""
    content = json.loads(text)
    assert set(content) <= TOP
    assert "score" in content or all("score" in test for test in content["tests"])
    assert content["visibility"] in VISIBILITY
    assert content["stdout_visibility"] in VISIBILITY
    assert content["output_format"] in FORMATS
    for test in content["tests"]:
        assert set(test) <= TEST
        assert isinstance(test["score"], float)
        assert isinstance(test["output"], str)
        assert test["status"] in {"passed", "failed"}
        assert test["output_format"] in FORMATS
        assert test["visibility"] in VISIBILITY
    return content
