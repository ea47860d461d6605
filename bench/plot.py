"""Draws what bench/solver --log wrote: plot.py LOG FOLDER makes FOLDER/*.svg. Needs nothing but Python."""
import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 170, 40, 50
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # told apart by everyone (Okabe & Ito)


def ticks(low, high, log):
    if log:
        return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10(high / 4))
    step *= next(k for k in (1, 2, 5, 10) if high / (k * step) <= 6)
    return [k * step for k in range(math.ceil(high / step) + 1)]


class Chart:
    """Lines over an axis that is logarithmic across and, where log is set, upwards."""

    def __init__(self, title, across, upwards, log):
        self.title, self.across, self.upwards, self.log, self.lines = title, across, upwards, log, {}

    def add(self, name, x, y):
        self.lines.setdefault(name, []).append((x, y))

    def svg(self):
        points = [p for line in self.lines.values() for p in line]
        xs, ys = ticks(min(x for x, _ in points), max(x for x, _ in points), True), None
        ys = ticks(min(y for _, y in points), max(y for _, y in points), self.log)
        part = lambda value, axis, log: ((math.log(value / axis[0]) / math.log(axis[-1] / axis[0])) if log
                                         else value / axis[-1]) if axis[-1] > axis[0] else 0.5
        px = lambda x: LEFT + part(x, xs, True) * (WIDTH - LEFT - RIGHT)
        py = lambda y: HEIGHT - BOTTOM - part(y, ys, self.log) * (HEIGHT - TOP - BOTTOM)
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
               f'font-size="12"><rect width="100%" height="100%" fill="white"/>',
               f'<text x="{LEFT}" y="22" font-size="15">{self.title}</text>']
        for y in ys:
            out.append(f'<path d="M{LEFT} {py(y):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                       f'<text x="{LEFT - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
        for x in xs:
            out.append(f'<path d="M{px(x):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                       f'<text x="{px(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>')
        out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{self.across}</text>'
                   f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
                   f'{self.upwards}</text>')
        for n, (name, line) in enumerate(self.lines.items()):
            colour, path = COLOURS[n % len(COLOURS)], " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in sorted(line))
            dots = "".join(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3"/>' for x, y in line)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/><g fill="{colour}">{dots}'
                       f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 16 * (n + 1)}">{name}</text></g>')
        return "\n".join(out) + "</svg>\n"


def main(log, folder):
    rows = [json.loads(line) for line in Path(log).read_text().splitlines()]
    charts = {"iterations": Chart("Iterations to a certified gap of 1e-3, three photos", "pixels", "iterations", False),
              "seconds": Chart("Seconds to a certified gap of 1e-3, three photos", "pixels", "seconds", True),
              "gaps": Chart("Iterations to a certified gap, 512 x 512, three photos", "gap", "iterations", False),
              "certificates": Chart("Share of certificates in the seconds, gap 1e-3", "pixels", "per cent", False),
              "photos": Chart("Seconds to a certified gap of 1e-3, 512 x 512", "photos", "seconds", False),
              "iteration": Chart("Cost of an iteration, three photos", "pixels", "ns a layer-pixel", False),
              "workspace": Chart("Workspace, three photos", "pixels", "floats a layer-pixel", False)}
    for row in rows:
        if row["bench"] == "gap" and row["channels"] == 1:
            name, pixels = f"{row['gradients']} E, lambda {row['lambda']:g}", row["width"] * row["height"]
            if row["gap"] == 1e-3 and row["m"] == 3:
                charts["iterations"].add(name, pixels, row["iterations"])
                charts["seconds"].add(name, pixels, row["seconds"])
                charts["certificates"].add(name, pixels, 100 * row["certificates"])
            if row["gap"] == 1e-3 and pixels == 512 * 512:
                charts["photos"].add(name, row["m"], row["seconds"])
            if row["m"] == 3 and pixels == 512 * 512:
                charts["gaps"].add(name, row["gap"], row["iterations"])
        if row["bench"] == "iteration" and row["m"] == 3:
            for name, key in ("one thread", "ns_a_layer_pixel"), ("two threads", "ns_two_threads"), ("copying", "copy_floor_ns"):
                charts["iteration"].add(name, row["side"] ** 2, row[key])
            charts["workspace"].add("floats", row["side"] ** 2, row["workspace_floats"])
    for name, chart in charts.items():
        if chart.lines:
            path = Path(folder) / f"solver-{name}.svg"
            path.write_text(chart.svg())
            print(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: plot.py LOG FOLDER")
    main(*sys.argv[1:])
