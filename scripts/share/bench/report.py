"""Medians and ratios, as a table, as JSON and as plots."""

import html
import math


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def spread(values):
    """The least and the greatest, as text."""
    return f"{min(values):.2f}-{max(values):.2f}"


def table(header, rows):
    """Columns as wide as their widest cell; the first is left-aligned."""
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = []
    for row in cells:
        lines.append("  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


_COLORS = ["#3b6fb6", "#c9812f", "#5d9a52", "#8a5fa8", "#a03c3c", "#2b9a9a", "#777777", "#c04f8f"]


def bars(title, unit, groups, path):
    """Grouped bars as SVG: `groups` is a list of (label, [(series, value), ...])."""
    series = list(dict.fromkeys(name for _, values in groups for name, _ in values))
    greatest = max((value for _, values in groups for _, value in values), default=1) or 1
    bar, gap, left, width = 16, 18, 260, 900
    height = 70 + sum(len(values) * bar + gap for _, values in groups)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="24" font-size="16">{html.escape(title)}, {html.escape(unit)}</text>']
    for index, name in enumerate(series):
        x = 16 + index * 170
        out.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{_COLORS[index % len(_COLORS)]}"/>')
        out.append(f'<text x="{x + 18}" y="47">{html.escape(name)}</text>')
    y = 64
    for label, values in groups:
        out.append(
            f'<text x="{left - 8}" y="{y + len(values) * bar / 2 + 4}" text-anchor="end">{html.escape(label)}</text>')
        for name, value in values:
            length = max(1, (width - left - 80) * value / greatest)
            color = _COLORS[series.index(name) % len(_COLORS)]
            out.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{color}"/>')
            out.append(f'<text x="{left + length + 6:.1f}" y="{y + bar - 5}">{value:.3g}</text>')
            y += bar
        y += gap
    out.append("</svg>\n")
    with open(path, "w") as file:
        file.write("\n".join(out))


def _ticks(low, high):
    """Round numbers of a linear axis, about five."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    return [step * index for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _logarithmic_ticks(least, most):
    """Round numbers between two logarithms: as few kinds as give three."""
    for kinds in ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), range(1, 10)):
        values = [kind * 10 ** power for power in range(0, 6) for kind in kinds]
        values = [value for value in values if least <= math.log(value) <= most]
        if len(values) >= 3:
            break
    return values


def curves(title, rows, path):
    """Plots of lines as SVG, side by side in rows: a plot is (title, [(series, [(x, y), ...]), ...]), x a logarithm."""
    series = list(dict.fromkeys(name for row in rows for _, lines in row for name, _ in lines))
    wide, high, top = 420, 260, 72
    width, height = 24 + wide * max((len(row) for row in rows), default=1), top + high * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="24" font-size="16">{html.escape(title)}</text>']
    place = 16
    for index, name in enumerate(series):
        out.append(f'<rect x="{place}" y="38" width="14" height="4" fill="{_COLORS[index % len(_COLORS)]}"/>')
        out.append(f'<text x="{place + 20}" y="45">{html.escape(name)}</text>')
        place += 44 + 7 * len(name)
    for row_index, row in enumerate(rows):
        for column, (name, lines) in enumerate(row):
            points = [point for _, line in lines for point in line if point[0] > 0]
            if points:
                out += _plot(name, lines, points, series, 24 + column * wide, top + row_index * high, wide - 40, high - 70)
    out.append("</svg>\n")
    with open(path, "w") as file:
        file.write("\n".join(out))


def _plot(name, lines, points, series, left, top, wide, high):
    left += 36
    wide -= 36
    least, most = (math.log(pick(x for x, _ in points)) for pick in (min, max))
    low, top_value = (pick(y for _, y in points) for pick in (min, max))
    span, rise = max(most - least, 1e-9), max(top_value - low, 1e-9)

    def across(x):
        return left + 8 + (math.log(x) - least) / span * (wide - 16)

    def up(y):
        return top + 30 + high - 8 - (y - low) / rise * (high - 16)

    out = [f'<text x="{left}" y="{top + 18}" font-weight="bold">{html.escape(name)}</text>',
           f'<rect x="{left}" y="{top + 30}" width="{wide}" height="{high}" fill="none" stroke="#999"/>']
    for value in _ticks(low, low + rise):
        out.append(f'<line x1="{left}" x2="{left + wide}" y1="{up(value):.1f}" y2="{up(value):.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{left - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in _logarithmic_ticks(least, most):
        out.append(f'<line x1="{across(value):.1f}" x2="{across(value):.1f}" y1="{top + 30}" y2="{top + 30 + high}" '
                   'stroke="#e4e4e4"/>')
        out.append(f'<text x="{across(value):.1f}" y="{top + 45 + high}" text-anchor="middle">{value:g}</text>')
    for who, line in lines:
        color = _COLORS[series.index(who) % len(_COLORS)]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in line if x > 0)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.6" fill="{color}"/>' for x, y in line if x > 0]
    return out
