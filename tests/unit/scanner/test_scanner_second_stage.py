"""The second stage: its table, what it judges, and what it leaves alone."""

import random
import string
from importlib import import_module

import numpy as np
import pytest

from bench.scanner.boosting import Settings, fit, margins
from bench.scanner.lookalikes import lookalikes
from bench.scanner.train import rendered
from keepmum_scanner import evidence, possible, scan, tree_table, trees, verdict
from keepmum_scanner.context import Context

RNG = random.Random(20261122)
KEY = "".join(RNG.choices(string.ascii_letters + string.digits, k=32))
candidates_of = import_module("keepmum_scanner.scan").candidates_of


def test_table_fits_the_evidence() -> None:
    assert len(evidence.NAMES) == tree_table.FEATURES
    assert len(tree_table.LEAVES) % 8 == 0


def test_each_number_of_the_evidence_has_a_name() -> None:
    context, certain, proposed = candidates_of(f"the token is {KEY}")
    (unit,) = verdict.units(certain, proposed, context)
    assert len(evidence.evidence(unit, context)) == len(evidence.NAMES)


def test_masks_give_what_the_fitted_trees_give() -> None:
    values = np.random.default_rng(5).normal(size=(300, 4)).round(2)
    wanted = (values[:, 0] * values[:, 1] > 0).astype(float)
    model = fit(values, wanted, np.ones(300), Settings(trees=7, columns=1.0))
    table: dict[str, object] = {}
    exec(rendered(model, 0.0), table)
    expected = margins(*model, values)
    assert [trees.Trees(table["BIAS"], table["QUESTIONS"], table["LEAVES"]).margin(list(row)) for row in values] == (  # type: ignore[arg-type]
        pytest.approx(list(expected), abs=1e-3)
    )
    assert ((expected > 0) == wanted).mean() > 0.9


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("On gw1 it is Brass%Ivory4426?, elsewhere the usual one", id="a password in prose"),
        pytest.param(
            f"path/session/module/{'=' * 40}\n{KEY}\nhash/digest/commit", id="a key among names of public things"
        ),
    ],
)
def test_secret_is_found(text: str) -> None:
    assert scan(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            '"pub_key": {"type": "ed25519", "value": "h3hk+QE8c6QLTySp8TcfzclJw/BG79ziGB/pIA+DfPE="}', id="public key"
        ),
        pytest.param("the secret name `prometheus-k8s-token-nwtrf`:", id="name of a secret"),
        pytest.param("amqp://guest:guest@localhost:5672//", id="default of a broker"),
    ],
)
def test_public_text_passes(text: str) -> None:
    assert scan(text) == []


def test_a_text_of_many_candidates_is_not_judged() -> None:
    keys = "\n".join("".join(RNG.choices(string.ascii_letters + string.digits, k=32)) + "1a1" for _ in range(60))
    context, certain, proposed = candidates_of(keys)
    assert verdict.judged(certain, proposed, context) == proposed


def test_possible_words_are_bounded() -> None:
    text = " ".join(f"Kick{number}Engine{number + 1000}!" for number in range(500))
    assert len(list(possible.find(Context(text), ()))) <= 16


def test_generated_texts_are_reproducible() -> None:
    assert list(lookalikes()) == list(lookalikes())
