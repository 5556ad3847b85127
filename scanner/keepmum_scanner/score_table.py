"""Weights of the token scorer; written by scanner/train_scorer.py, do not edit."""

BIAS = -5.7817
WEIGHTS = (
    0.2059,
    3.6304,
    -1.1627,
    0.1183,
    3.8918,
    0.4409,
    0.7335,
    3.6785,
    -0.5572,
    -1.3902,
    1.0041,
    4.1606,
    -1.5435,
    2.3229,
    1.1734,
    -9.869,
    -1.4378,
)
