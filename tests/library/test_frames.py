"""The slider over recorded frames: one picture a value, the same bytes every time, words for those
who do not see it.
"""

import json
import re

import pytest

from lectures_lib.show.frames import Frames


def draw(ax, height):
    ax.bar([0], [height])


def bars(**options):
    return Frames(draw, [1, 2, 3], title="height <cm>", alt='a "bar"', size=(2.0, 1.0), **options)


def test_there_is_a_picture_for_each_value():
    page = bars(start=1)._repr_html_()
    frames = json.loads(re.search("const frames = (.*);", page)[1])
    assert len(set(frames)) == 3
    assert f'src="{frames[1]}"' in page
    assert 'max="2" value="1"' in page


def test_the_same_frames_give_the_same_bytes_and_others_another_id():
    assert bars()._repr_html_() == bars()._repr_html_()
    other = Frames(draw, [1, 2, 4], title="height", alt="a bar", size=(2.0, 1.0))._repr_html_()
    assert other.split('id="')[1][:20] != bars()._repr_html_().split('id="')[1][:20]


def test_words_are_escaped():
    page = bars()._repr_html_()
    assert "height &lt;cm&gt;" in page
    assert 'alt="a &quot;bar&quot;"' in page
    assert "<cm>" not in page


def test_the_slider_says_a_value_as_it_is():
    values = ["a & b", "it's", '"<b>"', "</script>"]
    page = Frames(lambda ax, value: None, values, title="", alt="", size=(1.0, 1.0))._repr_html_()
    assert json.loads(re.search("const values = (.*);", page)[1]) == values
    assert page.count("</script>") == 1, "a value must not end the script"


@pytest.mark.parametrize(("values", "start"), [([1], 0), ([1, 2], 2), ([1, 2], -1)])
def test_bad_values_are_refused_with_their_numbers(values, start):
    with pytest.raises(ValueError, match=f"got {len(values)} values, start = {start}"):
        Frames(draw, values, title="", alt="", start=start)
