#!/usr/bin/env python3
"""How well photos alone are separated: scenes whose truth is known, everything estimated, reference photo 1.

    bench/quality.py [--scenes FOLDER...] [--photos 2,3,5] [--json] [OPTION OF ESRA SEPARATE...]

For each number of photos: PSNR and SSIM of the transmitted layer (mean of the scenes), the same of the untouched photo, the
corner error of the transmitted layer's motion in px (median, largest), the mean error of the mixing coefficients, and the least
gain in PSNR over the photo. FOLDERs hold photo-N.png, truth-transmitted-1.png and truth.json, as `esra synth` makes them; without
any, ../shared/synth is taken."""
import argparse
import glob
import json
import os
import sys
import tempfile

from esra_bench import SHARED, compare, corner_error_px, mean, median, separate


def measure(scene, m, out, options):
    photos = [os.path.join(scene, f"photo-{i + 1}.png") for i in range(m)]
    truth = json.load(open(os.path.join(scene, "truth.json")))
    result = separate(photos, out, "--reference", 1, "--no-report", *options)
    clean = os.path.join(scene, "truth-transmitted-1.png")
    answer, photo = compare(os.path.join(out, "transmitted.png"), clean), compare(photos[0], clean)
    first = truth["mixing"][0]
    return {
        "scene": os.path.basename(scene), "photos": m, "method": result["method"], "seconds": result["wall_s"],
        "psnr": answer["psnr"], "ssim": answer["ssim"], "photo_psnr": photo["psnr"], "photo_ssim": photo["ssim"],
        "corners_px": [corner_error_px(p["transmitted"], h, truth["width"], truth["height"])
                       for p, h in zip(result["photos"][1:], truth["transmitted_homographies"][1:m])],
        "mixing": [abs(p["mixing"] * first / a - 1) for p, a in zip(result["photos"][1:], truth["mixing"][1:m])],
    }


def row(runs):
    corners, mixing = sum([r["corners_px"] for r in runs], []), sum([r["mixing"] for r in runs], [])
    return (f"{runs[0]['photos']:3} {mean([r['psnr'] for r in runs]):7.2f} {mean([r['ssim'] for r in runs]):6.3f}"
            f" {mean([r['photo_psnr'] for r in runs]):8.2f} {mean([r['photo_ssim'] for r in runs]):6.3f}"
            f" {median(corners):8.3f} {max(corners):6.2f} {100 * mean(mixing):9.2f}"
            f" {min(r['psnr'] - r['photo_psnr'] for r in runs):9.2f} {mean([r['seconds'] for r in runs]):9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=sorted(glob.glob(os.path.join(SHARED, "synth", "s*"))))
    parser.add_argument("--photos", default="2,3,5")
    parser.add_argument("--json", action="store_true", help="every run, as JSON")
    arguments, options = parser.parse_known_args()
    if not arguments.scenes:
        print("quality: skipped, ../shared/synth is not here; make scenes with `esra synth`")
        return
    everything = []
    if not arguments.json:
        print("  m    PSNR   SSIM    photo   SSIM  corners    max  mixing %  least dB   seconds")
    with tempfile.TemporaryDirectory() as folder:
        for m in map(int, arguments.photos.split(",")):
            runs = [measure(scene, m, os.path.join(folder, f"{m}-{n}"), options)
                    for n, scene in enumerate(arguments.scenes)]
            everything += runs
            if not arguments.json:
                print(row(runs), flush=True)
    if arguments.json:
        json.dump(everything, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
