"""Weights of the token scorer; written by scanner/train_scorer.py, do not edit."""

BIAS = -5.8097
WEIGHTS = (
    0.2247,
    3.6494,
    -1.1629,
    0.1032,
    3.9109,
    0.4276,
    0.7158,
    3.6821,
    -0.5602,
    -1.3954,
    1.0375,
    4.1594,
    -1.5758,
    2.3142,
    1.1687,
    -9.8751,
    -1.4124,
)
