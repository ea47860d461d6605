#!/usr/bin/env python3
"""Whether commits change bits: the hash of transmitted.png after each of them.

    bench/bits.py [RANGE] [--ends] [--scene FOLDER]... [--scale .25] [--photos 3] [--work FOLDER] [-- OPTION...]

RANGE is FROM..TO or FROM, which means FROM..HEAD (default HEAD~1). The program is built at FROM and at each later commit that
touches src/, include/ or tools/, in a clone beside the repository's own objects, each build on top of the last; --ends builds the
first and the last alone. Each separates the photos of each scene with two threads. Prints a line a commit and scene: the commit, the
hash, "same" or "changed" against the commit before, and its subject at the first scene. Exit 1: something has changed.

Scenes are examples/scene and, where ../shared has them, synth/s000 s001 s004 s007, scenes/stone and scenes/toy. --scale shrinks the
photos, which needs PIL; --photos takes the first so many. --work keeps clone and builds for the next time. OPTIONs go to
`esra separate`, as in `-- --motion depth`."""
import argparse
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

from esra_bench import ROOT, SHARED

SCENES = ["synth/s000", "synth/s001", "synth/s004", "synth/s007", "scenes/stone", "scenes/toy"]
BUILT = ["src", "include", "tools"]


def git(*words, folder=ROOT):
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def commits(span, ends):
    """The first of the range, which is what the others are compared with, and those after it that may change bits."""
    first, _, last = span.partition("..")
    later = git("rev-list", "--reverse", "--topo-order", f"{first}..{last or 'HEAD'}", "--", *BUILT)
    return git("rev-parse", first + "^{commit}") + (later[-1:] if ends else later)


def build(clone, commit):
    """The program of a commit, or None where it does not build."""
    git("checkout", "-q", "--detach", commit, folder=clone)
    folder = os.path.join(clone, "build")
    off = [f"-DESRA_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES", "BINDINGS", "INSTALL")]
    for command in (["cmake", "-S", clone, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *off],
                    ["cmake", "--build", folder, "-j", str(min(2, os.cpu_count())), "--target", "esra_tool"]):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode:
            print(run.stdout[-1000:], file=sys.stderr)
            return None
    return os.path.join(folder, "esra")


def photos_of(scene, arguments, folder):
    photos = sorted(glob.glob(os.path.join(scene, "photo-*.*")))[:arguments.photos]
    if not photos:
        sys.exit(f"{scene} has no photo-*")
    if arguments.scale == 1:
        return photos
    from PIL import Image
    small = []
    for photo in photos:
        image = Image.open(photo).convert("RGB")
        small.append(os.path.join(folder, hashlib.sha256(photo.encode()).hexdigest()[:16] + ".png"))
        image.resize((round(image.width * arguments.scale), round(image.height * arguments.scale)), Image.BOX).save(small[-1])
    return small


def hash_of(program, photos, options, folder):
    """Of transmitted.png; exit 10 and 11 are answers with warnings, or with the photo itself."""
    out = tempfile.mkdtemp(dir=folder)
    run = subprocess.run([program, "separate", "--threads", "2", *options, "-o", out, *photos], capture_output=True, text=True)
    if run.returncode not in (0, 10, 11):
        return f"exit {run.returncode}"
    with open(os.path.join(out, "transmitted.png"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def compare(chosen, scenes, arguments, scratch):
    """Whether all commits give the same bits."""
    clone = os.path.join(os.path.abspath(arguments.work or scratch), "clone")
    if not os.path.exists(clone):
        git("clone", "-q", "--shared", "--no-checkout", os.path.join(ROOT, git("rev-parse", "--git-common-dir")[0]), clone)
    before, alike = {}, True
    for commit in chosen:
        program, subject = build(clone, commit), git("log", "-1", "--format=%s", commit)[0]
        for scene, photos in scenes.items():
            found = hash_of(program, photos, arguments.options, scratch) if program else "no build"
            verdict = "first" if scene not in before else "same" if before[scene] == found else "changed"
            alike = alike and verdict != "changed"
            before[scene] = found
            print(f"{commit[:9]} {os.path.basename(scene):10} {found:12} {verdict:8}{subject}".rstrip(), flush=True)
            subject = ""
    return alike


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("range", nargs="?", default="HEAD~1")
    parser.add_argument("--ends", action="store_true")
    parser.add_argument("--scene", action="append")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--photos", type=int, default=12)
    parser.add_argument("--work")
    words = sys.argv[1:]
    own = words[:words.index("--")] if "--" in words else words
    arguments = parser.parse_args(own)
    arguments.options = words[len(own) + 1:]
    folders = arguments.scene or [os.path.join(ROOT, "examples", "scene")] + [
        path for path in (os.path.join(SHARED, scene) for scene in SCENES) if os.path.isdir(path)]
    with tempfile.TemporaryDirectory() as scratch:
        scenes = {folder.rstrip("/"): photos_of(folder, arguments, scratch) for folder in folders}
        sys.exit(not compare(commits(arguments.range, arguments.ends), scenes, arguments, scratch))


if __name__ == "__main__":
    main()
