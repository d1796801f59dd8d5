"""The solution notebook of the toy homework, from which students' notebooks are made."""

import nbformat

from lectures_lib.homework.release import BEGIN, END

HEADING = "## Question {}: {}\n\n*{} points · difficulty 1 of 3 · 5 minutes · chapter 2*\n\nText."
ANSWER = f"def double(x):\n    {BEGIN}\n    return x + x  # an answer\n    {END}"
CLASS = (
    f"class Scale(nn.Module):\n    def forward(self, x):\n        {BEGIN}\n        return "
    f"self.weight * x\n        {END}"
)


def solution(*changes: tuple[str, str]) -> str:
    """An executed solution notebook of the toy homework, with some text replaced."""
    new = nbformat.v4
    output = [new.new_output("stream", text="✓ right\n")]
    cells = [
        new.new_code_cell(
            "import lectures_lib", metadata={"tags": ["setup"]}, execution_count=1, outputs=output
        ),
        new.new_markdown_cell(HEADING.format(1, "Double", 2)),
        new.new_code_cell(ANSWER, execution_count=2),
        new.new_code_cell('check("toy.double", double)', execution_count=3, outputs=output),
        new.new_markdown_cell(HEADING.format(2, "Scale", 1).replace("points", "point")),
        new.new_code_cell(CLASS, metadata={"lines_to_next_cell": 2}),
        new.new_code_cell("check('toy.Scale', Scale)", outputs=output),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    text = nbformat.writes(
        new.new_notebook(cells=cells, metadata={"kernelspec": kernel, "widgets": {"state": 1}})
    )
    for old, replacement in changes:
        assert old in text
        text = text.replace(old, replacement)
    return text
