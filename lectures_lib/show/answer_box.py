"""A box to type in, in a running notebook, with Python behind it: any function of a text answers.

    answer_box(lambda text: to_english([text])[0], "Zwei Hunde spielen im Schnee.")

On the website there is no kernel; there, the page "Type your own" does this in the reader's browser.
"""

import html
from collections.abc import Callable


def answer_box(function: Callable[[str], object], example: str = "", button: str = "Run"):
    """A field for text, a button, and below what the function makes of the text.

    An error of the function is shown in its own words, and the box stays usable.

    Args:
        function: of one text. What it returns is shown as text.
        example: what stands in the field first.
        button: what the button says.

    Returns:
        An ipywidgets box, which a notebook shows.

    Raises:
        ImportError: without ipywidgets; it comes with `lectures-lib[chapters]`.
    """
    import ipywidgets

    text = ipywidgets.Textarea(value=example, layout=ipywidgets.Layout(width="100%"))
    run = ipywidgets.Button(description=button)
    answer = ipywidgets.HTML()

    def show(_: object) -> None:
        try:
            found = str(function(text.value))
        except Exception as error:  # the reader's text may be anything
            found = f"{type(error).__name__}: {error}"
        answer.value = f'<pre style="white-space: pre-wrap">{html.escape(found)}</pre>'

    run.on_click(show)
    return ipywidgets.VBox([text, run, answer])
