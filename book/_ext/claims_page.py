"""Checked claims: the directive {claims-overview}, how many claims have which verdict, and the slips;
and {claims} with the name of a page, which shows the rows of claims.yml on its topics as cards.

Only the data are read here. That they are what the checks compute is for the tests to see to:
nothing is trained or loaded in a build.
"""

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BOOK = Path(__file__).parents[1]
sys.path.insert(0, str(BOOK))  # where the packages `claims` and `published` are
from claims import VERDICTS, Claim, page, read  # noqa: E402
from published_tables import chapter, table_node  # noqa: E402

FILTER = Path(__file__).with_name("claims_filter.js")


class ClaimCard(nodes.General, nodes.Element):
    """One claim. The page's script hides cards by their verdict."""


def visit_card(translator, node: ClaimCard) -> None:
    """A div with an address of its own."""
    attributes = {
        "CLASS": f"claim claim-{node['verdict'].replace(' ', '-')}",
        "data-verdict": node["verdict"],
    }
    translator.body.append(translator.starttag(node, "div", **attributes))


def depart_card(translator, node: ClaimCard) -> None:
    """Its end."""
    translator.body.append("</div>\n")


def address(claim: Claim) -> str:
    """A claim's card, as seen from the overview."""
    return f"claims/{page(claim.topic)}.html#claim-{claim.id}"


def linked(text: str, topic: str, verdict: str = "") -> nodes.entry:
    """A cell that leads from the overview to a topic, or to its claims of one verdict."""
    asked = f"?verdict={verdict.replace(' ', '+')}" if verdict else ""
    section = nodes.make_id(read()["topics"][topic])
    uri = f"claims/{page(topic)}.html{asked}#{section}"
    link = nodes.reference("", text, refuri=uri, internal=True)
    if verdict:
        link["reftitle"] = f"{verdict}: {read()['topics'][topic]}"
    return nodes.entry("", nodes.paragraph("", "", link))


class Overview(SphinxDirective):
    """All of the overview below its introduction."""

    def run(self) -> list[nodes.Node]:
        """Counts by lecture and by topic, and the slips."""
        self.env.note_reread()
        record = read()
        self.lectures = record["lectures"]
        return [
            *self.counts(record),
            nodes.paragraph("", "", nodes.strong("", "By topic"), classes=["by-topic"]),
            self.topics(record),
            *self.slips(record["claims"]),
        ]

    def topics(self, record: dict) -> nodes.table:
        """A table of topics and verdicts. A count leads to the topic's page, where the filter shows
        these alone.
        """
        heads = ["topic", *VERDICTS, "all"]
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
        group += nodes.thead(
            "", nodes.row("", *(nodes.entry("", nodes.paragraph("", head)) for head in heads))
        )
        body = nodes.tbody()
        for key, name in record["topics"].items():
            these = [claim for claim in record["claims"] if claim.topic == key]
            row = nodes.row("", linked(name, key))
            for verdict in VERDICTS:
                count = sum(claim.verdict == verdict for claim in these)
                row += (
                    linked(str(count), key, verdict)
                    if count
                    else nodes.entry("", nodes.paragraph("", "0"))
                )
            row += linked(str(len(these)), key)
            body += row
        group += body
        return nodes.table("", group, classes=["topics"])

    def slips(self, claims: list[Claim]) -> list[nodes.Node]:
        """What most readers come for: the slips, each with a link to its card."""
        found = nodes.bullet_list(classes=["slips"])
        for claim in (claim for claim in claims if claim.verdict == "slip"):
            line = self.parse_text_to_nodes(claim.says)[0]
            place = f"{self.lectures[claim.lecture]['short']}, {claim.where}"
            line += [
                nodes.Text(" ("),
                nodes.reference("", place, refuri=address(claim), internal=True),
                nodes.Text(")"),
            ]
            found += nodes.list_item("", line)
        return [nodes.paragraph("", "", nodes.strong("", f"The {len(found)} slips")), found]

    def counts(self, record: dict) -> list[nodes.Node]:
        """A table of lectures and verdicts, and what it does not say."""
        claims: list[Claim] = record["claims"]

        def line(name: str, these: list[Claim]) -> list[str]:
            return [
                name,
                *(str(sum(claim.verdict == verdict for claim in these)) for verdict in VERDICTS),
                str(len(these)),
            ]

        rows = [
            line(lecture["short"], [claim for claim in claims if claim.lecture == key])
            for key, lecture in record["lectures"].items()
        ]
        computed = sum(bool(claim.check) for claim in claims)
        meanings = "; ".join(f"**{verdict}**: {meaning}" for verdict, meaning in VERDICTS.items())
        summary = (
            f"Of {len(claims)} claims {computed} were computed, each by a function that the tests "
            f"run again, and {len(claims) - computed} were only looked up. {meanings}."
        )
        whose = "; ".join(
            f"{lecture['short']}: {lecture['title']}, {lecture['from']}"
            for lecture in record["lectures"].values()
        )
        table = table_node(["lecture", *VERDICTS, "all"], [*rows, line("all", claims)])
        return [table, *self.parse_text_to_nodes(f"{whose}."), *self.parse_text_to_nodes(summary)]


class Claims(SphinxDirective):
    """The claims of one page, as cards: `{claims} attention`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A section for each of its topics, and the filter."""
        self.env.note_reread()
        record = read()
        self.lectures = record["lectures"]
        topics = record["pages"].get(self.arguments[0])
        if topics is None:
            pages = ", ".join(record["pages"])
            raise self.error(f"claims.yml has no page {self.arguments[0]!r}: {pages}")
        sections = [
            self.topic(record["topics"][key], [c for c in record["claims"] if c.topic == key])
            for key in topics
        ]
        script = nodes.raw(
            "", f"<script>\n{FILTER.read_text(encoding='utf-8')}</script>\n", format="html"
        )
        return [*sections, script]

    def topic(self, name: str, claims: list[Claim]) -> nodes.section:
        """The claims on one topic."""
        section = nodes.section(
            "", nodes.title("", name), names=[nodes.fully_normalize_name(name)], classes=["claims"]
        )
        self.state.document.note_implicit_target(section)
        section += [self.card(claim) for claim in claims]
        return section

    def card(self, claim: Claim) -> ClaimCard:
        """One claim: verdict and place, what the lecture says, what we find, and how."""
        card = ClaimCard(ids=[f"claim-{claim.id}"], verdict=claim.verdict)
        head = nodes.paragraph(classes=["claim-head"])
        head += nodes.inline("", claim.verdict, classes=["verdict"])
        head += nodes.inline(
            "", f" {self.lectures[claim.lecture]['short']}, {claim.where}", classes=["claim-where"]
        )
        card += head
        card += self.parse_text_to_nodes(f"**Lecture:** {claim.says}")
        card += self.parse_text_to_nodes(f"**Found:** {claim.printed}")
        card += self.parse_text_to_nodes(self.how(claim))
        card[-1]["classes"].append("claim-how")
        return card

    def how(self, claim: Claim) -> str:
        """The check's code, the chapter that does it step by step, and the sources."""
        ways = []
        if claim.check:
            module, function = claim.check.split(".")
            address = (
                f"{self.config.myst_substitutions['repository']}/blob/main/book/claims/{module}.py"
            )
            ways.append(f"[`{module}.{function}`]({address})")
        else:
            ways.append("looked up")
        if claim.see:
            name = chapter(claim.see) if claim.see.startswith("notebooks/") else "published results"
            ways.append(f"[{name}](/{claim.see})")
        ways += [f"{{cite}}`{source}`, {place}" for source, place in claim.sources.items()]
        return " · ".join(ways)


def setup(app: Sphinx) -> dict:
    """Add the directive and the card."""
    app.add_node(ClaimCard, html=(visit_card, depart_card))
    app.add_directive("claims", Claims)
    app.add_directive("claims-overview", Overview)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
