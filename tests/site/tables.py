"""Tables as a page has them before they are made fit for a telephone."""


def written(rows, heads=("", "what it is", "what it does"), classes="table", head_tag="th"):
    """A table as docutils writes it."""
    head = "".join(f'<{head_tag} class="head"><p>{name}</p></{head_tag}>\n' for name in heads)
    lines = "".join(
        f'<tr class="row-even">{"".join(f"<td><p>{cell}</p></td>" for cell in row)}</tr>\n'
        for row in rows
    )
    return (
        f'<table class="{classes}">\n<thead>\n<tr class="row-odd">{head}</tr>\n</thead>\n'
        f"<tbody>\n{lines}</tbody>\n</table>"
    )
