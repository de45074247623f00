"""Tables and downloads of a chapter."""

from __future__ import annotations

import base64
import gzip
import inspect
from html import escape
from pathlib import Path

import pandas as pd
import yaml
from IPython.display import HTML

from bookkit import claims
from bookkit.dependencies import ROOT
from bookkit.results import find
from bookkit.sphinxext import repository_url

COMPRESS_ABOVE = 200_000
LONG = 30


class Table(HTML):
    """A table as HTML, with plain text where HTML is not shown."""

    def __init__(self, html: str, text: str) -> None:
        super().__init__(html)  # type: ignore[no-untyped-call]
        self._text = text

    def __repr__(self) -> str:
        return self._text


def link(data: pd.DataFrame, name: str) -> str:
    """Return a link that downloads the data as ``name``.csv; the data is in the link itself."""
    content, suffix = data.to_csv(index=False).encode(), "csv"
    if len(content) > COMPRESS_ABOVE:
        content, suffix = gzip.compress(content, mtime=0), "csv.gz"
    kind = "text/csv" if suffix == "csv" else "application/gzip"
    encoded = base64.b64encode(content).decode()
    return (
        f'<a class="csv-link" download="{name}.{suffix}" '
        f'href="data:{kind};base64,{encoded}">Data: {name}.{suffix}</a>'
    )


def download(data: pd.DataFrame, name: str) -> Table:
    """Show a link to the data of a figure as CSV."""
    return Table(f"<p>{link(data, name)}</p>", f"{name}: {len(data)} rows")


def _format(value: object, digits: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.{digits}g}"
    return "" if value is None or value is pd.NA else escape(str(value))


def _cell(column: object, value: object, digits: int) -> str:
    if str(column).startswith("html_"):
        return f"<td>{value}</td>"
    kind = ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        kind = ' class="number"'
    elif len(str(value)) > LONG:
        kind = ' class="long"'
    return f"<td{kind}>{_format(value, digits)}</td>"


def table(
    data: pd.DataFrame,
    caption: str,
    name: str,
    *,
    headings: dict[str, str] | None = None,
    digits: int = 4,
    full: pd.DataFrame | None = None,
) -> Table:
    """Show a data frame as a table with a caption and a link to its data.

    Parameters
    ----------
    data
        What is shown, without its index. Strings are escaped, except in columns whose name
        begins with ``html_``.
    caption
        The caption.
    name
        Name of the CSV file, without ending.
    headings
        Heading of each column, its name by default.
    digits
        Significant digits of floating-point numbers.
    full
        What the link downloads, if more than is shown.
    """
    headings = headings or {}
    head = "".join(f'<th scope="col">{escape(headings.get(str(c), str(c)))}</th>' for c in data)
    rows = []
    for record in data.to_dict("records"):
        rows.append(f"<tr>{''.join(_cell(c, v, digits) for c, v in record.items())}</tr>")
    html = (
        f'<div class="table-scroll"><table class="data"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f"<p>{link(data if full is None else full, name)}</p>"
    )
    return Table(html, f"{caption}\n{data.to_string(index=False)}")


def badge(verdict: str, count: int | None = None) -> str:
    """Return a verdict as a coloured label, with the number of claims if it is given."""
    text = escape(verdict if count is None else f"{count} {verdict}")
    return f'<span class="verdict {verdict.replace(" ", "-")}">{text}</span>'


LEDGER_HEADINGS = {
    "id": "claim",
    "claim": "in our words",
    "paper_value": "paper",
    "ours": "ours",
    "html_verdict": "verdict",
    "where": "where",
    "basis": "ours rests on",
    "note": "remark",
}


def _readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Add units to our values and colours to the verdicts."""
    ours = (rows["ours"] + " " + rows["unit"]).str.strip()
    return rows.assign(ours=ours, html_verdict=rows["verdict"].map(badge))


def chapter_claims(chapter: str) -> Table:
    """Show the rows of the ledger that belong to a chapter."""
    rows = claims.ledger(chapter)
    if rows.empty:
        raise claims.ClaimsError(f"the ledger has no claims for the chapter {chapter!r}")
    shown = _readable(rows)[list(LEDGER_HEADINGS)]
    name = "claims-" + chapter.replace("/", "-")
    caption = "Paper against ours: the claims of this chapter"
    return table(shown, caption, name, headings=LEDGER_HEADINGS, full=rows)


def _code(function: str) -> str:
    """Return a link to the source of an experiment in the repository."""
    if not function:
        return ""
    experiment = find(function)
    path = Path(inspect.getsourcefile(experiment) or "").relative_to(ROOT).as_posix()
    line = inspect.getsourcelines(experiment)[1]
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    base = f"{repository_url(config['url'])}/blob/{config['branch']}"
    return f'<a href="{base}/{path}#L{line}">{escape(experiment.__name__)}</a>'


def whole_ledger(paper: str) -> Table:
    """Show the whole ledger of a paper, with links to chapters and code."""
    rows = claims.ledger().query("paper == @paper")
    chapters = [f'<a href="{c}.html">{escape(c)}</a>' for c in rows["chapter"]]
    shown = _readable(rows).assign(html_chapter=chapters, html_code=rows["function"].map(_code))
    headings = {**LEDGER_HEADINGS, "html_chapter": "chapter", "html_code": "code"}
    caption = f"All {len(rows)} claims"
    return table(shown[list(headings)], caption, f"claims-{paper}", headings=headings, full=rows)


def verdict_counts() -> Table:
    """Show how many claims of each paper have each verdict."""
    ledger = claims.ledger()
    counts = pd.crosstab(ledger["paper"], ledger["verdict"])
    counts = counts.reindex(columns=list(claims.VERDICTS), fill_value=0)
    counts["all"] = counts.sum(axis=1)
    return table(counts.reset_index(), "Claims by verdict", "verdicts")


def item_status(paper: str) -> Table:
    """Show where each figure, table, algorithm and theorem of a paper is, and its verdicts."""
    rows = claims.items().query("paper == @paper")
    where = [
        f'<a href="{c}.html">{escape(c)}</a>' if c else "not done yet" for c in rows["chapter"]
    ]
    verdicts = [
        " ".join(badge(v, row[v]) for v in claims.VERDICTS if row[v])
        for row in rows.to_dict("records")
    ]
    shown = rows.assign(html_where=where, html_verdicts=verdicts)
    headings = {"item": "item", "title": "what", "html_where": "chapter", "html_verdicts": "claims"}
    caption = f"Figures, tables and other items of the {paper.capitalize()} paper"
    return table(shown[list(headings)], caption, f"items-{paper}", headings=headings, full=rows)
