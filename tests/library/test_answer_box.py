"""A box to type in: the function answers, its errors are shown, and no text becomes markup."""

from lectures_lib.show.answer_box import answer_box


def parts(box):
    """The field, the button, and what is shown."""
    return box.children


def test_the_function_answers_what_is_typed():
    field, button, answer = parts(answer_box(str.upper, "two dogs"))
    assert answer.value == ""
    button.click()
    assert "TWO DOGS" in answer.value
    field.value = "<b>x</b>"
    button.click()
    assert "&lt;B&gt;X&lt;/B&gt;" in answer.value


def test_an_error_is_shown_and_the_next_text_is_answered():
    field, button, answer = parts(answer_box(int, "three"))
    button.click()
    assert "ValueError: invalid literal" in answer.value
    field.value = "3"
    button.click()
    assert ">3</pre>" in answer.value
