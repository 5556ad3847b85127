"""Weights of the token scorer; written by scanner/train_scorer.py, do not edit."""

BIAS = -6.1287
WEIGHTS = (
    0.1835,
    3.4186,
    -1.6878,
    0.8736,
    4.8329,
    -0.187,
    1.1571,
    2.9904,
    -1.0284,
    -0.5687,
    1.1041,
    4.9885,
    -0.3488,
    2.2274,
    1.1121,
    -8.859,
    -2.4683,
)
