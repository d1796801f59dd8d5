"""The primer says what its code prints; this runs it."""

import doctest
import re
from pathlib import Path

PRIMER = Path(__file__).parents[2] / "book" / "primer.md"


def test_primer_prints_what_it_says():
    examples = "\n".join(
        re.findall(r"^```pycon\n(.*?)^```", PRIMER.read_text(), re.MULTILINE | re.DOTALL)
    )
    test = doctest.DocTestParser().get_doctest(examples, {}, "primer", str(PRIMER), 0)
    assert len(test.examples) > 30
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)
