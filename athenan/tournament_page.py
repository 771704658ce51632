"""The results of a tournament on disk, among them one page of HTML that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

from athenan.charts import STYLE, interval_bar
from athenan.files import write_whole
from athenan.standings import (
    Standings,
    cross_rows,
    csv_text,
    facts,
    figures,
    pictures,
    rating_csv,
    rating_rows,
)

PAGE_STYLE = """<style>
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; line-height: 1.45;
  font: 15px system-ui, sans-serif; background: light-dark(#ffffff, #0d1117);
  color: light-dark(#24292f, #e6edf3); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid light-dark(#d8dee4, #30363d); }
.name { text-align: left; }
.wide { overflow-x: auto; } .chart { width: 100%; height: auto; } .bar { width: 200px; }
small { color: light-dark(#57606a, #8b949e); }
</style>"""


def write(folder: Path, title: str, found: Standings) -> list[Path]:
    """The files that are read afterwards."""
    drawn = pictures(found)
    texts = {
        "ratings.csv": rating_csv(found),
        "cross.csv": csv_text(cross_rows(found)),
        "results.json": json.dumps(figures(found), indent=1) + "\n",
        **{f"{name}.svg": text for name, text in drawn.items()},
        "index.html": page(title, found, drawn),
    }
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return [folder / name for name in texts]


def page(title: str, found: Standings, drawn: Mapping[str, str]) -> str:
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in facts(found)]
    parts += [ratings_table(found), *drawn.values()]
    parts += ["<h2>Who scored what against whom, in percent</h2>", cross_table(found)]
    parts += ["<h2>Players</h2>", players_table(found)]
    return (
        "<!DOCTYPE html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title>\n{STYLE}\n{PAGE_STYLE}</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def ratings_table(found: Standings) -> str:
    elos = [rated.elo for rated in found.ratings.players]
    least, most = min(elo.low for elo in elos), max(elo.high for elo in elos)
    head, *rows = rating_rows(found)
    told = [row_of("th", head, 1) + "<th></th>"]
    for row, elo in zip(rows, elos, strict=True):
        bar = interval_bar(elo.value, elo.low, elo.high, least, most)
        told.append(row_of("td", row, 1) + f"<td>{bar}</td>")
    return table(told)


def cross_table(found: Standings) -> str:
    """A cell is as green as its score is high."""
    head, *rows = cross_rows(found)
    told = [row_of("th", head, 0)]
    for name, *cells in rows:
        told.append(f"<td class='name'>{escape(name)}</td>" + "".join(map(shaded, cells)))
    return table(told)


def shaded(cell: str) -> str:
    if not cell.isdigit():
        return f"<td>{escape(cell)}</td>"
    hue = round(1.2 * int(cell))
    return f"<td style='background: hsl({hue} 60% 50% / 0.35)'>{cell}</td>"


def players_table(found: Standings) -> str:
    told = []
    for name, text in found.texts.items():
        about = f"<small>{escape(text)}</small>"
        told.append(f"<td class='name'>{escape(name)}</td><td class='name'>{about}</td>")
    return table(told)


def row_of(kind: str, cells: list[str], named: int) -> str:
    return "".join(
        f"<{kind}{' class=name' if i == named else ''}>{escape(cell)}</{kind}>"
        for i, cell in enumerate(cells)
    )


def table(rows: list[str]) -> str:
    lines = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<div class='wide'><table>\n{lines}\n</table></div>"
