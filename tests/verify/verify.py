#!/usr/bin/env python3
"""Checks what esra claims, from the arrays alone and in double: the objective F of the layers, and the bound D(u).

usage: verify.py --mixtures I.npy --gradients E.npy --mixing a,b --lambda X --layers L.npy [--weights W.npy]
                 [--duals U.npy] [--claims result.json]

Prints F (and D). With --claims, the JSON object of `esra solve --json`, fails unless its objective is F, its bound is no
more than D (both to rounding), and its gap no less than they give. Arrays of float64 are rounded to float32 first, as esra
does. Shares no code with esra; needs numpy.
"""
import argparse
import json
import sys

import numpy as np


def differences(layer):
    """Forward differences of (h, w, c); zero past the last row and column."""
    vertical, horizontal = np.zeros_like(layer), np.zeros_like(layer)
    vertical[:-1] = layer[1:] - layer[:-1]
    horizontal[:, :-1] = layer[:, 1:] - layer[:, :-1]
    return vertical, horizontal


def adjoint(vertical, horizontal):
    """Transpose of differences()."""
    out = np.zeros_like(vertical)
    out[1:] += vertical[:-1]
    out[:-1] -= vertical[:-1]
    out[:, 1:] += horizontal[:, :-1]
    out[:, :-1] -= horizontal[:, :-1]
    return out


def gradient_terms(layers, gradients):
    """The arrays D L_l - E_l, only where a difference exists."""
    for layer, extracted in zip(layers, gradients):
        vertical, horizontal = differences(layer)
        yield (vertical - extracted[0])[:-1], (horizontal - extracted[1])[:, :-1]


def objective(problem, layers):
    fidelity = sum(0.5 * (w * (i - a * layers[0] - l) ** 2).sum()
                   for i, a, w, l in zip(problem["mixtures"], problem["mixing"], problem["weights"], layers[1:]))
    roughness = sum(np.abs(v).sum() + np.abs(h).sum() for v, h in gradient_terms(layers, problem["gradients"]))
    return fidelity + problem["lambda"] * roughness


def slope(problem, tilts, t):
    """Value and derivative in t = L_0 of the pixelwise minimum over the reflected layers."""
    value, first = tilts[0] * t, tilts[0].copy()
    for i, a, w, tilt in zip(problem["mixtures"], problem["mixing"], problem["weights"], tilts[1:]):
        w = np.broadcast_to(w, i.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(w > 0, np.clip(i - a * t - tilt / w, 0, 1), tilt < 0)
        residual = i - a * t - y
        value = value + 0.5 * w * residual ** 2 + tilt * y
        first = first - a * w * residual
    return value, first


def bound(problem, duals):
    """D(u), by bisection on the slope in t and a tangent at the end: a lower bound however far bisection came."""
    assert np.abs(duals).max() <= 1, "a dual lies outside [-1, 1]"
    tilts = [problem["lambda"] * adjoint(u[0], u[1]) for u in duals]
    low, high = np.zeros_like(tilts[0]), np.ones_like(tilts[0])
    for _ in range(60):
        middle = (low + high) / 2
        _, first = slope(problem, tilts, middle)
        low, high = np.where(first < 0, middle, low), np.where(first < 0, high, middle)
    value, first = slope(problem, tilts, low)
    value = value + np.minimum(0, first * (high - low))
    linear = sum((u[0] * e[0])[:-1].sum() + (u[1] * e[1])[:, :-1].sum() for u, e in zip(duals, problem["gradients"]))
    return value.sum() - problem["lambda"] * linear


def load(path, photos_ndim):
    array = np.load(path).astype(np.float32).astype(np.float64)
    return array[..., None] if array.ndim == photos_ndim else array


def load_problem(arguments):
    mixtures = load(arguments.mixtures, 3)
    gradients = load(arguments.gradients, 4)
    gradients[:, 0, -1], gradients[:, 1, :, -1] = 0, 0
    weights = load(arguments.weights, -1) if arguments.weights else np.ones(mixtures.shape[:3])
    return {"mixtures": mixtures, "gradients": gradients, "weights": weights[..., None],
            "mixing": [float(a) for a in arguments.mixing.split(",")], "lambda": arguments.lambda_}


def tiny_objective(problem):
    """What doc/NUMERICS.md calls tiny: photos and nonzero gradients met to 2^-16."""
    energy = sum(0.5 * (w * i ** 2).sum() for i, w in zip(problem["mixtures"], problem["weights"]))
    return energy * 2.0 ** -32 + problem["lambda"] * np.count_nonzero(problem["gradients"]) * 2.0 ** -16


def check_claims(path, f, d, tiny):
    with open(path) as file:
        claims = json.load(file)
    scale = max(abs(f), 1e-3)
    complaints = []
    if abs(claims["objective"] - f) > 1e-9 * scale:
        complaints.append(f"objective is {f!r}, not {claims['objective']!r}")
    if d is not None and claims["bound"] > d + 1e-9 * scale:
        complaints.append(f"bound is {d!r}, and {claims['bound']!r} is claimed")
    if claims["gap"] < (1 - 1e-9) * (claims["objective"] - claims["bound"]) / max(f, tiny):
        complaints.append(f"gap {claims['gap']!r} is less than objective and bound give")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    for name in "mixtures", "gradients", "mixing", "layers":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--lambda", dest="lambda_", type=float, required=True)
    for name in "weights", "duals", "claims":
        parser.add_argument("--" + name)
    arguments = parser.parse_args()
    problem, layers = load_problem(arguments), load(arguments.layers, 3)
    if not (np.isfinite(layers).all() and layers.min() >= 0 and layers.max() <= 1):
        sys.exit("verify.py: a layer leaves [0, 1]")
    f = objective(problem, layers)
    d = bound(problem, load(arguments.duals, 4)) if arguments.duals else None
    print(json.dumps({"objective": f, "bound": d}))
    complaints = check_claims(arguments.claims, f, d, tiny_objective(problem)) if arguments.claims else []
    sys.exit("verify.py: " + "; ".join(complaints) if complaints else 0)


if __name__ == "__main__":
    main()
