#!/usr/bin/env python3
"""The paper's problem, from NumPy arrays, and its certificate computed again without esra.

    F(L) = 1/2 sum_i (I_i - a_i L_0 - L_i)^2 + lam sum_l |D L_l - E_l|      over 0 <= L <= 1

For every field u with |u| <= 1 the least F is at least D(u) = min over L of 1/2 sum (...)^2 + lam <u, D L - E>, which falls
apart into one small problem a pixel. esra.solve() returns such a u with its layers: F - D says how far they are from the
best there are."""
# %% Layers, their gradients with some noise, and mixtures of them.
import numpy as np

import esra

chance = np.random.default_rng(1)
m, h, w, lam = 3, 48, 64, .02
a = np.array([.8, .85, .9])
truth = np.kron(chance.random((m + 1, h // 8, w // 8)), np.ones((8, 8))) * .5
I = (a[:, None, None] * truth[0] + truth[1:]).astype(np.float32)
E = np.zeros((m + 1, 2, h, w))
E[:, 0, :-1], E[:, 1, :, :-1] = np.diff(truth, axis=1), np.diff(truth, axis=2)
E = (E + .01 * chance.standard_normal(E.shape)).astype(np.float32)

# %% Solve it.
solution = esra.solve(I, E, a, lam=lam, gap=1e-4)
print(solution)

# %% The certificate, in double.
I, E, L, u = (array.astype(np.float64) for array in (I, E, solution.layers, solution.duals))
for field in (E, u):
    field[:, 0, -1] = field[:, 1, :, -1] = 0  # there is no difference past the last row and column
a = a[:, None, None]
DL = np.stack([np.diff(L, axis=1, append=L[:, -1:]), np.diff(L, axis=2, append=L[:, :, -1:])], 1)
F = .5 * ((I - a * L[0] - L[1:])**2).sum() + lam * np.abs(DL - E).sum()

tilt = -lam * (np.diff(u[:, 0], axis=1, prepend=0) + np.diff(u[:, 1], axis=2, prepend=0))  # lam D'u
low, high = np.zeros((h, w)), np.ones((h, w))
for _ in range(50):  # bisection for the best L_0 of each pixel; the best L_i follow from it
    t = (low + high) / 2
    falls = tilt[0] < (a * (I - a * t - np.clip(I - a * t - tilt[1:], 0, 1))).sum(0)
    low, high = np.where(falls, t, low), np.where(falls, high, t)
R = np.clip(I - a * low - tilt[1:], 0, 1)
D = (tilt[0] * low + (.5 * (I - a * low - R)**2 + tilt[1:] * R).sum(0)).sum() - lam * (u * E).sum()

print(f"F = {F:.9f}, esra says {solution.info.objective:.9f}")
print(f"D = {D:.9f}, esra says {solution.info.bound:.9f}")
print(f"no other layers can be better by more than {(F - D) / F:.1e} of F")
assert np.abs(u).max() <= 1 and L.min() >= 0 and L.max() <= 1
assert abs(F - solution.info.objective) < 1e-9 * F
assert solution.info.bound <= D + 1e-9 * F and (F - D) / F <= 1e-4
