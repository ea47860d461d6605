#!/usr/bin/env python3
"""What is gained on every series of ../shared: real scenes, mixtures of real photos, photos without truth, made scenes.

    bench/real.py [--sets scenes,mix,real,synth] [--scenes FOLDER...] [--half odd|even] [--jobs N] [--reuse]
                  [--driver build/bench/separate] [--out FOLDER] [--json] [OPTION OF ESRA SEPARATE...]

Prints for each series, and by kind (mean, median, how many are more than .3 dB below the photo), what the transmitted layer's
PSNR gains over the photo's, after a fit of gain and offset a channel and after one exposure (`esra compare`); NCC of the
reflected layer with its truth; and whether the layers are exchanged: T more like the reflection's truth than like its own. Where
there is no truth (real) that is judged by the layers that SOLD found, which exchanges some itself. For scenes whose README.md has
a table of what others reached, that too. OUT (build/bench/real) gets a folder for each series, runs.json with all figures, and
sheet.html with all pictures beside the rivals', to be looked at: no figure sees a ghost.

A folder holds photo-N and, of the reference K, truth-transmitted-K, truth-reflected-K; with truth.json it is separated with 2, 3
and 5 photos, with scene.json its "kind" is told. --half takes every second series of a set, by its place in the list: set a
threshold on one half, prove it on the other. --reuse does not separate again where there is a result. --driver separates by the
core alone (`cmake --build build --target bench_separate`; needs PIL), and OPTIONs are then its own. Sets that are not there are
left out with a word."""
import argparse
import concurrent.futures
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile

from esra_bench import ROOT, SHARED, as_ppm, compare, mean, median, separate

SETS = ["scenes", "mix", "real", "synth"]
MADE_PHOTOS = [2, 3, 5]
LOST_DB = -.3


# ---- What there is

def number(path):
    return int(re.search(r"-(\d+)\.\w+$", path)[1])


def find(folder, stem):
    """The picture of that name, the exact one before the JPEG; None where there is none."""
    return next((path for kind in ("png", "ppm", "jpg") for path in [os.path.join(folder, f"{stem}.{kind}")]
                 if os.path.exists(path)), None)


def kind_of(folder):
    described = os.path.join(folder, "scene.json")
    if os.path.exists(described):
        return "mix " + json.load(open(described))["kind"]
    return "real" if find(folder, "sold-transmitted") else "scenes"


def reference_of(folder, photos):
    """The middle one, or the only one whose truth is known."""
    middle = (len(photos) + 1) // 2
    known = [number(path) for path in glob.glob(os.path.join(folder, "truth-transmitted-*"))]
    return middle if middle in known or not known else min(known)


def series_of(folder):
    folder = folder.rstrip("/")
    name = os.path.basename(folder)
    numbers = sorted({number(path) for path in glob.glob(os.path.join(folder, "photo-*"))})
    photos = [find(folder, f"photo-{n}") for n in numbers]
    one = {"name": name, "folder": folder, "photos": photos, "kind": kind_of(folder), "reference": reference_of(folder, photos)}
    if not os.path.exists(os.path.join(folder, "truth.json")):
        return [one] if len(photos) > 1 else []
    return [{**one, "name": f"{name}-m{m}", "photos": photos[:m], "kind": f"synth m={m}"} for m in MADE_PHOTOS]


def list_series(arguments):
    if arguments.scenes:
        return sum(map(series_of, arguments.scenes), [])
    every = []
    for name in arguments.sets.split(","):
        folders = sorted(path for path in glob.glob(os.path.join(SHARED, name, "*")) if os.path.isdir(path))
        if not folders:
            print(f"real: {name} is left out, ../shared/{name} is not here", file=sys.stderr)
        first, step = {"odd": (0, 2), "even": (1, 2), None: (0, 1)}[arguments.half]
        every += sum(map(series_of, folders[first::step]), [])
    return every


# ---- One separation

def driver(program, series, out, options):
    """bench/separate's answer as result.json, and its layers as PNG, the reflected one as bright as it is."""
    from PIL import Image
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        photos = [as_ppm(path, 1, folder) for path in series["photos"]]
        words = [program, "-r", str(series["reference"]), "-o", os.path.join(folder, "layer"), *options, *photos]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{' '.join(words)}: exit {run.returncode}\n{run.stderr}")
        for layer, name in ("transmitted", "transmitted"), ("reflected", f"reflected-{series['reference']}"):
            Image.open(os.path.join(folder, f"layer-{layer}.ppm")).save(os.path.join(out, f"{name}.png"))
    return json.loads(run.stdout)


def result_of(series, out, arguments, options):
    path = os.path.join(out, "result.json")
    if arguments.reuse and os.path.exists(path):
        return json.load(open(path))
    if not arguments.driver:
        return separate(series["photos"], out, "--reference", series["reference"], *options)
    result = driver(arguments.driver, series, out, options)
    with open(path, "w") as file:
        json.dump(result, file)
    return result


def seconds_of(result):
    seconds = result["seconds"]
    return result.get("wall_s", seconds["total"] if isinstance(seconds, dict) else seconds)


# ---- Its figures

def pictures_of(series, out):
    """Whatever there is of: photo, layers, truth, and what others reached."""
    folder, k = series["folder"], series["reference"]
    found = {"photo": series["photos"][k - 1], "transmitted": find(out, "transmitted"), "reflected": find(out, f"reflected-{k}"),
             "confidence": find(out, "confidence"), "truth of T": find(folder, f"truth-transmitted-{k}"),
             "truth of R": find(folder, f"truth-reflected-{k}")}
    for rival in "sold", "liu", "xue":
        for layer in "transmitted", "reflected":
            found[f"{rival}, {layer}"] = find(folder, f"{rival}-{layer}")
    return {name: path for name, path in found.items() if path}


def gain(layer, photo, figure):
    """None where one of them is the truth itself."""
    return layer[figure] - photo[figure] if layer[figure] is not None and photo[figure] is not None else None


def against_truth(shown):
    layer, photo = (compare(shown[name], shown["truth of T"]) for name in ("transmitted", "photo"))
    return {"transmitted": layer, "photo": photo, "gain_fit": gain(layer, photo, "psnr_fit"),
            "gain_exposure": gain(layer, photo, "psnr_exposure"), "gain_plain": gain(layer, photo, "psnr")}


def exchanged(shown, of_t, of_r):
    """T is more like what should be R; None where one of both is not there."""
    if of_t not in shown or of_r not in shown:
        return None
    return compare(shown["transmitted"], shown[of_r])["ncc"] > compare(shown["transmitted"], shown[of_t])["ncc"]


def figures_of(shown):
    figures = against_truth(shown) if "truth of T" in shown else {}
    if "truth of R" in shown:
        figures["reflected_ncc"] = compare(shown["reflected"], shown["truth of R"])["ncc"]
    known = exchanged(shown, "truth of T", "truth of R")
    figures["exchanged"] = exchanged(shown, "sold, transmitted", "sold, reflected") if known is None else known
    return figures


def measure(series, arguments, options):
    out = os.path.join(arguments.out, series["name"])
    result = result_of(series, out, arguments, options)
    shown = pictures_of(series, out)
    return {"kind": series["kind"], "series": series["name"], "reference": series["reference"], "method": result["method"],
            "motion": result["motion"], "light": result["light"], "seconds": seconds_of(result),
            "warnings": [warning["id"] for warning in result["warnings"]], "prediction": result.get("prediction"),
            **figures_of(shown), "pictures": shown}


# ---- Told as text

def db(value):
    return "     -" if value is None else f"{value:+6.2f}"


def line(run):
    """One series."""
    ncc = f"{run['reflected_ncc']:5.3f}" if "reflected_ncc" in run else "    -"
    return (f"{run['series'][:40]:40} {db(run.get('gain_fit'))} {db(run.get('gain_exposure'))}   {ncc}"
            f"  {'exchanged' if run['exchanged'] else '':9}  {run['method']:6} {run['motion']:10} {run['seconds']:6.1f} s"
            f"  {' '.join(run['warnings'])}")


def summary_of(runs):
    """The figures of one kind; means over the series that have them."""
    summary = {"series": len(runs), "seconds": mean([run["seconds"] for run in runs]),
               "given_back": sum(run["method"] == "none" for run in runs),
               "exchanged": sum(bool(run["exchanged"]) for run in runs)}
    for figure in "gain_fit", "gain_exposure":
        gains = [run[figure] for run in runs if run.get(figure) is not None]
        lost = sum(g < LOST_DB for g in gains)
        summary[figure] = {"mean": mean(gains), "median": median(gains), "lost": lost} if gains else None
    nccs = [run["reflected_ncc"] for run in runs if "reflected_ncc" in run]
    summary["reflected_ncc"] = mean(nccs) if nccs else None
    return summary


def summaries_of(runs):
    kinds = list(dict.fromkeys(run["kind"] for run in runs))
    groups = {kind: [run for run in runs if run["kind"] == kind] for kind in kinds}
    mixed = [run for run in runs if run["kind"].startswith("mix ")]
    return {kind: summary_of(group) for kind, group in {**groups, **({"mix, all": mixed} if mixed else {})}.items()}


def summary_line(kind, summary):
    cells = [f"{kind:16} {summary['series']:4}"]
    for figure in "gain_fit", "gain_exposure":
        s = summary[figure]
        cells.append(f"{s['mean']:+6.2f} {s['median']:+6.2f} {s['lost']:4}" if s else f"{'-':>6} {'-':>6} {'-':>4}")
    ncc = summary["reflected_ncc"]
    return "   ".join(cells) + (f"   {'-':>5}" if ncc is None else f"   {ncc:5.3f}") + \
        f" {summary['exchanged']:9} {summary['given_back']:10} {summary['seconds']:8.1f}"


def print_summaries(summaries):
    print(f"\n{'':21}   {'gain in dB, fitted':>18}   {'one exposure':>18}   {'NCC':>5}\n"
          f"{'kind':16} {'n':>4}   {'mean':>6} {'median':>6} {'lost':>4}   {'mean':>6} {'median':>6} {'lost':>4}   {'of R':>5}"
          f" {'exchanged':>9} {'given back':>10} {'seconds':>8}")
    for kind, summary in summaries.items():
        print(summary_line(kind, summary))


def cell(figures):
    """As the table of a README has it; an infinite PSNR is None."""
    return "{}/{ssim_fit:.3f}/{ncc:.3f}".format("inf" if figures["psnr_fit"] is None else f"{figures['psnr_fit']:.2f}", **figures)


def published(readme, scenes):
    """The rows of the README's table: a method, and its cell of each scene named in the head."""
    rows = [[c.strip() for c in text.strip().strip("|").split("|")] for text in open(readme) if text.startswith("|")]
    if len(rows) < 2:
        return []
    columns = {name: next((n for n, head in enumerate(rows[0]) if head.split()[:1] == [name]), None) for name in scenes}
    return [(row[0], [row[columns[name]] if columns[name] else "" for name in scenes]) for row in rows[2:]]


def print_published(runs):
    """Beside what others reached, where a README beside the scenes says that."""
    runs = [run for run in runs if run["kind"] == "scenes" and "transmitted" in run]
    readme = os.path.join(SHARED, "scenes", "README.md")
    if not runs or not os.path.exists(readme):
        return
    lines = [("fitted PSNR / SSIM / NCC of the transmitted layer", [run["series"] for run in runs]),
             ("esra", [cell(run["transmitted"]) for run in runs]), ("photo untouched", [cell(run["photo"]) for run in runs])]
    print()
    for name, cells in lines + published(readme, [run["series"] for run in runs]):
        print(f"{name[:58]:58}", *(f"{c:>24}" for c in cells))


# ---- Shown

def figure(path, title, sheet):
    source = os.path.relpath(path, os.path.dirname(sheet))
    return f'<figure><img loading="lazy" src="{html.escape(source)}"><figcaption>{html.escape(title)}</figcaption></figure>'


def draw_sheet(runs, out):
    """One row a series: photo, layers, confidence, truth, rivals."""
    sheet = os.path.join(out, "sheet.html")
    rows = [f"<h2>{html.escape(' '.join(line(run).split()))}</h2><div>"
            + "".join(figure(path, name, sheet) for name, path in run["pictures"].items()) + "</div>" for run in runs]
    with open(sheet, "w") as file:
        file.write("<!DOCTYPE html><meta charset=utf-8><title>esra: real scenes</title><style>body{font:14px sans-serif;"
                   "background:#222;color:#ddd}h2{font-size:15px}div{display:flex;flex-wrap:wrap;gap:6px}"
                   "figure{margin:0;width:19%}img{width:100%}</style>" + "\n".join(rows) + "\n")
    return sheet


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--scenes", nargs="+", metavar="FOLDER", help="these, instead of sets")
    parser.add_argument("--half", choices=["odd", "even"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--driver", metavar="PROGRAM")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "bench", "real"))
    parser.add_argument("--json", action="store_true", help="print runs.json instead of tables")
    arguments, options = parser.parse_known_args()
    if arguments.jobs > 1 and not {"--threads", "-t"} & set(options):
        threads = str(max(1, (os.cpu_count() or 1) // arguments.jobs))
        options += ["-t" if arguments.driver else "--threads", threads]
    return arguments, options


def main():
    arguments, options = parse()
    every, runs = list_series(arguments), []
    if not every:
        print("real: skipped, there is nothing to separate", file=sys.stderr)
        return
    os.makedirs(arguments.out, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for run in pool.map(lambda series: measure(series, arguments, options), every):
            runs.append(run)
            if not arguments.json:
                print(line(run), flush=True)
    told = {"schema": "esra-bench-real-1", "options": options, "half": arguments.half, "summaries": summaries_of(runs),
            "runs": runs}
    with open(os.path.join(arguments.out, "runs.json"), "w") as file:
        json.dump(told, file, indent=1)
    sheet = draw_sheet(runs, arguments.out)
    if arguments.json:
        print(json.dumps(told, indent=1))
        return
    print_summaries(told["summaries"])
    print_published(runs)
    print(f"\ncontact sheet: {sheet}")


if __name__ == "__main__":
    main()
