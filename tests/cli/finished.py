"""A finished separation made by hand: layers that are known, in the files that esra separate would have written."""
import json

import numpy as np

from pictures import png_bytes, to_8_bit, to_srgb

HEIGHT, WIDTH = 12, 16
REFERENCE = 2
STILL = np.eye(3).tolist()


def photo_fields(name, shift):
    moved = [[1, 0, shift], [0, 1, 0], [0, 0, 1]]
    return {"file": name, "aligned": True, "incomplete": False, "overlap": 1., "explained": .6, "explained_reflected": None,
            "layers_apart_px": 3., "mixing": 1. + .1 * shift, "reflection_gain": 1. - .1 * shift, "transmitted": STILL, "reflected": moved,
            "evidence": {}}


def result_fields(names, **changes):
    photos = [photo_fields(name, n + 1 - REFERENCE) for n, name in enumerate(names)]
    return {"schema": "esra-separate-2", "version": "0", "method": "joint", "motion": "homography", "light": "linear",
            "reference": REFERENCE, "width": WIDTH, "height": HEIGHT, "photos": photos,
            "warnings": [{"id": "exchanged", "text": "t", "advice": "a"}, {"id": "clipped", "text": "t", "advice": "a"}],
            "lambda": .02, "strength": 1., "solve": {"status": "optimal", "engine": "fast", "objective": 2., "bound": 1.,
                                                    "gap": .5, "iterations": 7},
            "joint": {"objective": 1., "residual": .01, "trusted": .9}, "prediction": {"error": .1, "baseline": .3},
            "exchange_probability": .625, "taken_off": 1.,
            "threads": 1, "seconds": {"align": 1., "joint": 1., "solve": 1., "total": 3.},
            "output": {"format": "png", "quality": 95, "layers": "all", "brightness": 2.}, **changes}


def made_layers(bright=.45):
    """T and R_1..R_3 in light; 2 R stays below white where bright is below a half."""
    rng = np.random.default_rng(5)
    return rng.uniform(.02, .5, (HEIGHT, WIDTH, 3)), rng.uniform(.02, bright, (3, HEIGHT, WIDTH, 3))


def save_finished(path, scene, reflected, strength=1., report=True, **changes):
    """p1.png .. p3.png beside the folder out."""
    names = [f"p{n + 1}.png" for n in range(3)]
    out = path / "out"
    out.mkdir()
    for name, layer in zip(names, reflected):
        (path / name).write_bytes(png_bytes(to_8_bit(to_srgb(scene + layer))))
    pictures = {"transmitted": scene + (1 - strength) * reflected[REFERENCE - 1], "confidence": np.ones((HEIGHT, WIDTH)),
                **{f"reflected-{n + 1}": 2 * layer for n, layer in enumerate(reflected)}}
    for name, picture in pictures.items():
        (out / f"{name}.png").write_bytes(png_bytes(to_8_bit(to_srgb(picture.clip(0, 1)))))
    if report:
        (out / "report.html").write_text("a report")
    (out / "result.json").write_text(json.dumps(result_fields(names, strength=strength, **changes), indent=2) + "\n")
