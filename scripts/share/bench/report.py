"""Medians and ratios, as a table, as JSON and as plots."""

import html


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


_COLORS = ["#3b6fb6", "#c9812f", "#5d9a52", "#8a5fa8", "#a03c3c"]


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
