"""How well one colour can be read on another."""


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rrggbb` as WCAG 2 defines it: 1 for equal ones, 21 for black on
    white.
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(hexadecimal: str) -> float:
    shares = [int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
