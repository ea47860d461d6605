"""What the benches of whole separations share: the program, runs of it, and figures of what it wrote. Python's own library
is all they need."""
import hashlib
import json
import math
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(os.environ.get("ESRA", os.path.join(ROOT, "build", "esra")))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")


def esra(*words):
    """Runs the program; what it prints, as JSON. 11: nothing could be separated, which is an answer too."""
    run = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    if run.returncode not in (0, 10, 11):
        sys.exit(f"esra {' '.join(map(str, words))}: exit {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout) if run.stdout else None


def separate(photos, out, *options):
    """result.json, with the seconds of the whole command and its peak memory in bytes."""
    words = [PROGRAM, "separate", *photos, "-o", out, "--quiet", "--json", *map(str, options)]
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 10, 11):
        sys.exit(f"{' '.join(words)}: exit {process.returncode}\n{errors}")
    result = json.loads(output)
    result["wall_s"] = time.monotonic() - begin
    result["cpu_s"] = usage.ru_utime + usage.ru_stime
    result["peak_bytes"] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return result


def compare(a, b):
    return esra("compare", "--json", a, b)


def as_ppm(path, scale, folder):
    """A copy that bench/separate reads, unless the picture is one; other formats need PIL."""
    if scale == 1 and path.endswith(".ppm"):
        return path
    from PIL import Image
    name = os.path.join(folder, hashlib.sha1(f"{path} {scale}".encode()).hexdigest()[:16] + ".ppm")
    if not os.path.exists(name):
        image = Image.open(path).convert("RGB")
        size = (round(image.width * scale), round(image.height * scale))
        (image if scale == 1 else image.resize(size, Image.BOX)).save(name)
    return name


def mean(values):
    return sum(values) / len(values) if values else math.nan


def median(values):
    values = sorted(values)
    return 0.5 * (values[(len(values) - 1) // 2] + values[len(values) // 2]) if values else math.nan


def apply(h, x, y):
    d = h[2][0] * x + h[2][1] * y + h[2][2]
    return (h[0][0] * x + h[0][1] * y + h[0][2]) / d, (h[1][0] * x + h[1][1] * y + h[1][2]) / d


def corner_error_px(h, truth, width, height):
    """Mean distance of the four corners."""
    corners = [(x, y) for x in (0, width - 1) for y in (0, height - 1)]
    return mean([math.dist(apply(h, *corner), apply(truth, *corner)) for corner in corners])
