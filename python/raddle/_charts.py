"""Small tables and drawings of results, in the colours of the report page."""

from __future__ import annotations

from html import escape
from typing import Any, Sequence

# As in src/raddle/report/figure.h.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a5195", "#7f7f7f")
# As in web/src/theme.ts, in the order of the page.
STALLS = {"issued": "#0b6e69", "memory": "#e07a3f", "lsu": "#b5446e", "dependence": "#f2c14e",
          "unit": "#8f6bb3", "throttled": "#5d6b3a", "fetch": "#a3b86c", "barrier": "#3f7fc4",
          "fence": "#8cc8dd", "sleep": "#b9b39b", "idle": "#d5dae1", "launch": "#7f8ea3"}
_WIDTH, _ROW = 640, 22
_STYLE = ("<style>.raddle{font:13px system-ui,sans-serif}.raddle td,.raddle th{text-align:right;"
          "padding:2px 8px}.raddle td:first-child,.raddle th:first-child{text-align:left}"
          ".raddle svg text{fill:currentColor;font:11px system-ui,sans-serif}</style>")


def escaped(text: str) -> str:
    return escape(text, quote=True)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', head)}</tr>{body}</table>"


def _svg(height: int, body: str, title: str) -> str:
    return (f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" '
            f'style="max-width:100%"><title>{escape(title)}</title>{body}</svg>')


def _label(left: int, row: int, text: str) -> str:
    return (f'<text x="{left - 6}" y="{row * _ROW + 14}" text-anchor="end">'
            f"{escape(text[:24])}</text>")


def _stacked(rows: Sequence[tuple[str, dict[str, float]]], title: str) -> str:
    """A bar of shares for each row, with a legend."""
    there = {name for _, parts in rows for name, part in parts.items() if part}
    names = [name for name in STALLS if name in there] + sorted(there - set(STALLS))
    colour = {name: STALLS.get(name, "#9c755f") for name in names}
    left, body = 150, ""
    for i, (label, parts) in enumerate(rows):
        whole = sum(parts.values()) or 1
        x = float(left)
        body += _label(left, i, label)
        for name in names:
            width = (_WIDTH - left) * parts.get(name, 0) / whole
            body += (f'<rect x="{x:.1f}" y="{i * _ROW + 2}" width="{width:.1f}" '
                     f'height="{_ROW - 6}" fill="{colour[name]}"><title>{escape(name)}: '
                     f"{100 * parts.get(name, 0) / whole:.1f} %</title></rect>")
            x += width
    x, y = 0, len(rows) * _ROW + 8
    for name in names:
        width = 24 + 7 * len(name)
        if x + width > _WIDTH:
            x, y = 0, y + 16
        body += (f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour[name]}"/>'
                 f'<text x="{x + 14}" y="{y + 9}">{escape(name)}</text>')
        x += width
    return _svg(y + 16, body, title)


def _bars(rows: Sequence[tuple[str, float]], title: str) -> str:
    most = max((value for _, value in rows), default=0) or 1
    left, body = 150, ""
    for i, (label, value) in enumerate(rows):
        width = (_WIDTH - left - 80) * value / most
        body += (_label(left, i, label)
                 + f'<rect x="{left}" y="{i * _ROW + 2}" width="{width:.1f}" '
                 f'height="{_ROW - 6}" fill="{COLOURS[0]}"/>'
                 f'<text x="{left + width + 5:.1f}" y="{i * _ROW + 14}">{_number(value)}</text>')
    return _svg(len(rows) * _ROW + 4, body, title)


def _line(x: Sequence[float], y: Sequence[float], title: str) -> str:
    height, left, low = 120, 50, 16
    right, most = max(x[-1], 1), max(max(y), 1e-9)
    across, up = _WIDTH - left - 10, height - low - 10
    points = " ".join(f"{left + across * a / right:.1f},{height - low - up * b / most:.1f}"
                      for a, b in zip(x, y))
    return _svg(height, (
        f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="1.5"/>'
        f'<text x="{left - 6}" y="14" text-anchor="end">{_number(float(most))}</text>'
        f'<text x="{left - 6}" y="{height - low}" text-anchor="end">0</text>'
        f'<text x="{_WIDTH - 10}" y="{height - 2}" text-anchor="end">cycle '
        f"{_number(int(right))}</text>"), title)


def grouped(names: Sequence[str], groups: Sequence[tuple[str, Sequence[float]]], title: str) -> str:
    """A drawing by itself: for each group a bar for each name, with a legend."""
    left, base, height, width = 50, 270, 330, max(400, 70 + 24 * len(names) * len(groups))
    most = max((value for _, values in groups for value in values), default=0) or 1
    step = (width - left - 10) / max(len(groups), 1)
    bar = 0.8 * step / max(len(names), 1)
    body = f'<text x="{left}" y="16" font-weight="bold">{escape(title)}</text>'
    for part in range(5):
        y = base - 220 * part / 4
        body += (f'<line x1="{left}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dde2e8"/>'
                 f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                 f"{_number(most * part / 4)}</text>")
    for i, (label, values) in enumerate(groups):
        x = left + step * i + 0.1 * step
        for k, value in enumerate(values):
            tall = 220 * value / most
            body += (f'<rect x="{x + k * bar:.1f}" y="{base - tall:.1f}" width="{0.9 * bar:.1f}" '
                     f'height="{tall:.1f}" fill="{COLOURS[k % len(COLOURS)]}"><title>'
                     f"{escape(label)}, {escape(names[k])}: {_number(value)}</title></rect>")
        body += (f'<text x="{x + 0.4 * step:.1f}" y="{base + 18}" text-anchor="middle">'
                 f"{escape(label)}</text>")
    x = float(left)
    for k, name in enumerate(names):
        body += (f'<rect x="{x}" y="{base + 34}" width="10" height="10" '
                 f'fill="{COLOURS[k % len(COLOURS)]}"/>'
                 f'<text x="{x + 14}" y="{base + 43}">{escape(name)}</text>')
        x += 30 + 7 * len(name)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(width, x):.0f} {height}" '
            f'width="{max(width, x):.0f}" font-family="system-ui, sans-serif" font-size="12" '
            f'fill="#1d2733"><rect width="100%" height="100%" fill="#ffffff"/>{body}</svg>\n')


def _stalls(one: Any) -> dict[str, float]:
    return {name: value for name, value in one.tree.get("stalls", {}).items()
            if isinstance(value, (int, float))}


def over_intervals(one: Any) -> list[float]:
    """Thread instructions a cycle of each interval; the last one may be short."""
    starts = [float(at) for at in one.series["start"]]
    sampling = one.tree.get("sampling")  # then totals are of launches without intervals, too
    timed = sampling["timed_totals"] if sampling else one.tree["totals"]
    ends = [*starts[1:], float(timed["cycles"])]
    return [float(count) / max(end - start, 1) for count, start, end
            in zip(one.series["thread_instructions"], starts, ends)]


def _cycles(one: Any) -> str:
    return _number(one.tree["totals"].get("cycles", 0)) + one._native.cycles_interval()


def result(one: Any) -> str:
    tree = one.tree
    workload, totals = tree["workload"], tree["totals"]
    rows = [(name, _number(totals[name])) for name in
            ("cycles", "warp_instructions", "ipc", "l1d_hit_rate", "l2_hit_rate", "dram_bytes")
            if name in totals]
    timed = one._native.timed_launches()
    if timed:
        rows = [("launches", timed), ("cycles", _cycles(one)), *rows[1:]]
    out = f"<h4>{escape(workload['name'])}: {escape(workload['result'])}</h4>"
    if tree["kernels"] and "cycles" in tree["kernels"][0] and len(tree["kernels"]) > 1:
        longest = sorted(enumerate(tree["kernels"]), key=lambda item: -item[1]["cycles"])[:8]
        kernels = f"<p>Cycles of the longest launches{' that were timed' if timed else ''}</p>"
        kernels += _bars(
            [(f"{i} {kernel['name']}", kernel["cycles"]) for i, kernel in sorted(longest)],
            "cycles of launches")
    else:
        kernels = ""
    out += _table(("", ""), rows)
    if checks := one._native.checks():
        out += f"<pre>{escape(checks)}</pre>"
    if stalls := _stalls(one):
        out += "<p>Why schedulers issued or did not</p>" + _stacked([("all SMs", stalls)], "stalls")
    out += kernels
    series = one.series
    if series and len(series["start"]) > 1:
        out += "<p>Thread instructions per cycle</p>" + _line(
            [float(at) for at in series["start"]], over_intervals(one), "IPC over time")
    return f'<div class="raddle">{_STYLE}{out}</div>'


def results(of: Any) -> str:
    out = ""
    for name in of.workloads:
        runs = list(of.of(name))
        timed = [one._native.timed_launches() for one in runs]
        alike = len(set(timed)) == 1
        rows = []
        for one, launches in zip(runs, timed):
            totals = one.tree["totals"]
            speedup = of.speedup(one)
            numbers = (_cycles(one), "-" if speedup is None else f"{speedup:.3f}",
                       *(_number(totals.get(name)) for name in
                         ("ipc", "l1d_hit_rate", "l2_hit_rate")))
            rows.append((one.label or "-", *(numbers if one._native.timed() else 5 * "-"),
                         one.tree["workload"]["result"],
                         *(() if alike else (launches or "all timed",))))
        heading = name + (f": {timed[0]}" if alike and timed[0] else "")
        out += f"<h4>{escape(heading)}</h4>" + _table(
            ("", "cycles", "speedup", "IPC", "L1D hit rate", "L2 hit rate", "result")
            + (() if alike else ("launches",)), rows)
        out += "<p>Cycles</p>" + _bars(
            [(one.label or "-", one.tree["totals"].get("cycles", 0)) for one in runs], "cycles")
        out += "<p>Why schedulers issued or did not</p>" + _stacked(
            [(one.label or "-", _stalls(one)) for one in runs], "stalls")
    return f'<div class="raddle">{_STYLE}{out}</div>'
