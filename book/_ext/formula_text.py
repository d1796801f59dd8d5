"""Formulas as one line of plain text, for the search's results."""

import re

GREEK = dict(
    zip(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "varepsilon",
            "theta",
            "lambda",
            "mu",
            "pi",
            "rho",
            "sigma",
            "tau",
            "phi",
            "omega",
        ],
        "αβγδεεθλμπρστφω",
        strict=True,
    )
)
SIGNS = GREEK | dict(
    sign.split("=")
    for sign in [
        "cdot=·",
        "times=×",
        "sum=∑",
        "to=→",
        "leq=≤",
        "geq=≥",
        "le=≤",
        "ge=≥",
        "approx=≈",
        "ldots=…",
        "dots=…",
        "infty=∞",
        "in=∈",
        "log=log",
        "exp=exp",
        "max=max",
        "min=min",
        "ln=ln",
        "top=T",
        "pm=±",
    ]
)


def grouped(text: str) -> str:
    """In brackets, if it is more than a name or a number."""
    return text if re.fullmatch(r"-?[\w.,]*", text) and "_" not in text else f"({text})"


def roots(tex: str) -> str:
    """With √ for the roots of what has no braces inside."""
    tex = re.sub(r"\\sqrt\s*\{(\w+)\}", r"√\1", tex)
    return re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", tex)


def as_text(tex: str) -> str:
    """A formula as one line of text: d_k for $d_k$; "…" where it has what no line can show."""
    tex = re.sub(r"\\(?:mathrm|text|mathbf|mathit|operatorname|hat|bar)\s*\{([^{}]*)\}", r"\1", tex)
    tex = re.sub(r"\\(left|right|[,;:! ])|[&~]", " ", tex)
    tex = re.sub(r"([_^])\{([^{}]*)\}", lambda m: m[1] + grouped(m[2]), tex)
    tex = roots(tex)  # one may stand in a fraction
    tex = re.sub(
        r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}",
        lambda m: f"{grouped(m[1])}/{grouped(m[2])}",
        tex,
    )
    tex = roots(tex)  # and a fraction in one
    tex = re.sub(r"\\([A-Za-z]+)", lambda sign: SIGNS.get(sign[1], sign[0]), tex)
    tex = " ".join(re.sub(r"\\([{}%|])", r"\1", tex).split())
    return "…" if "\\" in tex else tex
