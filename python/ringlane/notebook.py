"""How a run shows itself in a notebook: its timeline as a small picture, and its findings."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from .errors import Error

if TYPE_CHECKING:
    from .runs import Run

_WIDTH, _ROW, _ROWS_MAX, _BLOCKS_MAX = 720, 10, 40, 4000
_COLOURS = ("#3b6fb6", "#c8553d", "#4f9d69", "#b08d2e", "#7a5ba6", "#3f9aa8", "#a35b7d", "#6b7a3a")


def of_run(run: Run) -> str:
    """The run as HTML."""
    ticks = f"{run.makespan * 1e6:,.1f} µs"
    head = f"<b>{html.escape(str(run.manifest.get('scene', 'run')))}</b> on {html.escape(run.platform)}: {html.escape(run.status)}, "
    parts = [f"<div>{head}{run.tasks_submitted:,} tasks, {ticks}</div>"]
    if run.dir is not None:
        try:
            parts.append(_timeline(run))
            parts.append("<ul>" + "".join(f"<li>{html.escape(one.text)}</li>" for one in run.findings()) + "</ul>")
        except Error as error:
            parts.append(f"<div>{html.escape(error.name)}: {html.escape(error.detail)}</div>")
    return "".join(parts)


def _timeline(run: Run) -> str:
    blocks = run.blocks
    count = len(blocks["start"])
    if count == 0:
        return ""
    order = np.argsort(blocks["end"] - blocks["start"])[-_BLOCKS_MAX:]
    cores = np.unique(blocks["core"])[:_ROWS_MAX]
    row = {int(core): place for place, core in enumerate(cores)}
    names = sorted(set(blocks["kernel"].tolist()))
    colour = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    scale = _WIDTH / max(int(blocks["end"].max()), 1)
    rectangles = []
    for at in order:
        place = row.get(int(blocks["core"][at]))
        if place is None:
            continue
        start, end, name = int(blocks["start"][at]), int(blocks["end"][at]), str(blocks["kernel"][at])
        rectangles.append(
            f'<rect x="{start * scale:.2f}" y="{place * _ROW + 1}" width="{max((end - start) * scale, 0.4):.2f}" '
            f'height="{_ROW - 2}" fill="{colour[name]}"><title>{html.escape(name)}</title></rect>'
        )
    legend = " ".join(f'<span style="color:{colour[name]}">■</span> {html.escape(name)}' for name in names[:12])
    height = len(cores) * _ROW
    return (
        f'<svg width="{_WIDTH}" height="{height}" role="img" style="background:#f4f4f4">{"".join(rectangles)}</svg>'
        f"<div>{legend}</div>"
    )
