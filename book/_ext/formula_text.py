"""Formulas as one line of plain text, for the search's results; and such a line as one prints it."""

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


# One letter (or what ends in a bracket or a digit), and what stands below or above it: one or two
# letters, a number, or more in brackets. A name of a program, top_k or d_model, is none of these.
INDEX = r"(?:\([^()<>]*\)|-?(?:ell|top|max|min|[A-Za-z0-9α-ω]{1,2}|\d+))(?![A-Za-z0-9_])"
SYMBOL = re.compile(
    rf"(?<![a-zα-ω_&])(?P<letter>[A-Za-zα-ω])(?P<indices>(?:[_^]{INDEX})+)"
    rf"|(?<=[\d)\]|‖])(?P<above>(?:\^{INDEX})+)"
)
ONE_INDEX = re.compile(rf"([_^])({INDEX})")
LONG = {"ell": "ℓ", "top": "T"}
WRITTEN = re.compile(r"(<code\b.*?</code>|<[^>]*>)", re.DOTALL)  # as it is


def printed(text: str) -> str:
    """A text in HTML, in which d_k and W^Q have their indices below and above, as in a formula: a
    title or a search result sets no formulas. Code stays as it is written.
    """
    parts = WRITTEN.split(text)
    parts[::2] = [SYMBOL.sub(_symbol, part) for part in parts[::2]]
    return "".join(parts)


def _symbol(found: re.Match) -> str:
    letter = f"<i>{found['letter']}</i>" if found["letter"] else ""
    return letter + ONE_INDEX.sub(_index, found["indices"] or found["above"])


def _index(found: re.Match) -> str:
    tag = "sub" if found[1] == "_" else "sup"
    inside = found[2].removeprefix("(").removesuffix(")").replace("-", "−")
    return f"<{tag}>{printed(LONG.get(inside, inside))}</{tag}>"
