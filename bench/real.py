#!/usr/bin/env python3
"""Real scenes beside what others reached on them.

    bench/real.py [--scenes FOLDER...] [--out FOLDER] [--json] [OPTION OF ESRA SEPARATE...]

Separates every folder of ../shared/scenes (photo-N.png, reference photo 3; options such as --motion are passed on), prints fitted
PSNR, fitted SSIM and NCC of the transmitted layer and NCC of the reflected one where truth-*-3.png are there, beside the rows of
the folder's README.md, and draws a contact sheet of all scenes into OUT (build/bench/real), to be looked at: no figure sees a
ghost."""
import argparse
import glob
import html
import json
import os
import sys

from esra_bench import ROOT, SHARED, compare, separate

REFERENCE = 3


def measure(scene, out, options):
    photos = sorted(glob.glob(os.path.join(scene, "photo-*.png")))
    result = separate(photos, out, "--reference", REFERENCE, *options)
    run = {"scene": os.path.basename(scene), "method": result["method"], "seconds": result["wall_s"],
           "cpu_s": result["cpu_s"], "peak_bytes": result["peak_bytes"],
           "warnings": [warning["id"] for warning in result["warnings"]]}
    for layer, answer in ("transmitted", "transmitted.png"), ("reflected", f"reflected-{REFERENCE}.png"):
        truth = os.path.join(scene, f"truth-{layer}-{REFERENCE}.png")
        if os.path.exists(truth):
            run[layer] = compare(os.path.join(out, answer), truth)
    truth = os.path.join(scene, f"truth-transmitted-{REFERENCE}.png")
    if os.path.exists(truth):
        run["photo"] = compare(os.path.join(scene, f"photo-{REFERENCE}.png"), truth)
    return run


def cell(figures):
    return "{psnr_fit:.2f}/{ssim_fit:.3f}/{ncc:.3f}".format(**figures) if figures else "-"


def published(readme, scenes):
    """The rows of the README's table: a method, and its cell of each scene named in the head."""
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in open(readme) if line.startswith("|")]
    if len(rows) < 2:
        return []
    columns = {name: next((n for n, head in enumerate(rows[0]) if head.split()[:1] == [name]), None) for name in scenes}
    return [(row[0], [row[columns[name]] if columns[name] else "" for name in scenes]) for row in rows[2:]]


def table(runs, readme):
    runs = [run for run in runs if "transmitted" in run]
    lines = [("scene", [run["scene"] for run in runs]),
             ("esra, transmitted layer", [cell(run["transmitted"]) for run in runs]),
             ("photo untouched", [cell(run["photo"]) for run in runs]),
             ("esra, reflected layer, NCC", [f"{run['reflected']['ncc']:.3f}" if "reflected" in run else "-" for run in runs])]
    if os.path.exists(readme):
        lines += published(readme, [run["scene"] for run in runs])
    for name, cells in lines:
        print(f"{name[:58]:58}", *(f"{c:>24}" for c in cells))
    print()


def picture(path, title, sheet):
    source = os.path.relpath(path, os.path.dirname(sheet))
    return f'<figure><img src="{html.escape(source)}"><figcaption>{html.escape(title)}</figcaption></figure>'


def draw_sheet(scenes, runs, out):
    """One row a scene: photo, transmitted, reflected, confidence, truth."""
    sheet = os.path.join(out, "sheet.html")
    rows = []
    for scene, run in zip(scenes, runs):
        folder = os.path.join(out, run["scene"])
        shown = [(os.path.join(scene, f"photo-{REFERENCE}.png"), "photo"),
                 (os.path.join(folder, "transmitted.png"), f"transmitted, {cell(run.get('transmitted'))}"),
                 (os.path.join(folder, f"reflected-{REFERENCE}.png"), "reflected, twice as bright"),
                 (os.path.join(folder, "confidence.png"), "confidence"),
                 (os.path.join(scene, f"truth-transmitted-{REFERENCE}.png"), "truth")]
        figures = "".join(picture(path, title, sheet) for path, title in shown if os.path.exists(path))
        rows.append(f"<h2>{html.escape(run['scene'])}: {run['method']}, {run['seconds']:.0f} s,"
                    f" {html.escape(' '.join(run['warnings']))}</h2><div>{figures}</div>")
    with open(sheet, "w") as file:
        file.write("<!DOCTYPE html><meta charset=utf-8><title>esra: real scenes</title><style>body{font:14px sans-serif;"
                   "background:#222;color:#ddd}div{display:flex;gap:6px}figure{margin:0;flex:1}img{width:100%}</style>"
                   + "\n".join(rows) + "\n")
    return sheet


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folders = [f for f in sorted(glob.glob(os.path.join(SHARED, "scenes", "*"))) if os.path.isdir(f)]
    parser.add_argument("--scenes", nargs="+", default=folders)
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "real"))
    parser.add_argument("--json", action="store_true")
    arguments, options = parser.parse_known_args()
    if not arguments.scenes:
        print("real: skipped, ../shared/scenes is not here")
        return
    os.makedirs(arguments.out, exist_ok=True)
    runs = []
    for scene in arguments.scenes:
        runs.append(measure(scene, os.path.join(arguments.out, os.path.basename(scene)), options))
        if not arguments.json:
            run = runs[-1]
            print(f"{run['scene']}: {run['method']}, {run['seconds']:.1f} s ({run['cpu_s']:.1f} s of processors),"
                  f" {run['peak_bytes'] / 1e6:.0f} MB, {' '.join(run['warnings']) or 'no warnings'}", flush=True)
    sheet = draw_sheet(arguments.scenes, runs, arguments.out)
    if arguments.json:
        json.dump(runs, sys.stdout, indent=1)
        print()
        return
    table(runs, os.path.join(os.path.dirname(arguments.scenes[0].rstrip("/")), "README.md"))
    print(f"contact sheet: {sheet}")


if __name__ == "__main__":
    main()
