"""Figures in columns."""

from __future__ import annotations


def table(rows: list[list[str]]) -> list[str]:
    """Rows with their columns aligned, the first being the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in lines]
