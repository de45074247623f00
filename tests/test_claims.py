"""The ledger: every verdict is recomputed, and the rules that give a verdict are tested."""

import json
import re
from inspect import signature

import pandas as pd
import pytest
import yaml
from bookkit import claims, show
from bookkit.claims import ClaimsError, holds, summarise, verdict
from bookkit.dependencies import ROOT, local_modules
from bookkit.results import find, scale

LEDGER = claims.load()
CLAIMS = LEDGER["claims"]
TESTED = [claim for claim in CLAIMS if "test" in claim]


def depends_on_the_scale(claim):
    return "test" in claim and "scale" in signature(find(claim["test"]["function"])).parameters


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_verdict_is_the_expected_one(claim):
    """Where sizes matter, a hundredth of the paper's scale may judge otherwise (see .ci/run)."""
    found = claims.values(claim["test"]) if "test" in claim else None
    given = verdict(claim, found)
    if depends_on_the_scale(claim) and scale() == "quick":
        assert given in claims.VERDICTS
    else:
        assert given == claim["expected"], summarise(found)


@pytest.mark.parametrize("entry", [*CLAIMS, *LEDGER["items"]], ids=str)
def test_chapters_exist(entry):
    if "chapter" in entry:
        assert (ROOT / "book" / f"{entry['chapter']}.md").is_file()


@pytest.mark.parametrize("claim", TESTED, ids=lambda claim: claim["id"])
def test_chapter_depends_on_the_package_of_its_claims(claim):
    """Else a change of the package would leave the chapter's verdicts as they were."""
    source = (ROOT / "book" / f"{claim['chapter']}.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^(?:from \S+ )?import \S.*$", source, re.MULTILINE))
    package = claim["test"]["function"].partition(".")[0]
    assert any(module.startswith(package) for module in local_modules(code))
    assert callable(find(claim["test"]["function"]))


@pytest.mark.parametrize("item", LEDGER["items"], ids=lambda item: item["item"])
def test_items_with_a_chapter_have_claims_and_others_have_none(item):
    places = [c["where"].split(", ") for c in CLAIMS if c["paper"] == item["paper"]]
    assert any(item["item"] in place for place in places) == ("chapter" in item)


SERIES = pd.Series([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ({"op": "<", "target": 3.5}, True),
        ({"op": "<", "target": 3.0}, False),
        ({"op": "<=", "target": 3.0}, True),
        ({"op": ">", "target": 1.0}, False),
        ({"op": ">=", "target": 1.0}, True),
        ({"op": "=", "target": 2.0, "tolerance": 1.0}, True),
        ({"op": "=", "target": 2.0, "tolerance": 0.9}, False),
        ({"op": "between", "target": [1.0, 3.0]}, True),
        ({"op": "between", "target": [1.1, 3.0]}, False),
        ({"op": "between", "target": [1.1, 3.0], "tolerance": 0.1}, True),
        ({"op": "=", "target": 6.0, "reduce": "sum"}, True),
        ({"op": "=", "target": 3, "reduce": "nunique"}, True),
    ],
)
def test_all_values_must_meet_the_condition(condition, met):
    assert holds(SERIES, condition) is met


def test_a_missing_value_never_meets_a_condition():
    found = pd.Series([1.0, float("nan")])
    for condition in ({"op": "<", "target": 9}, {"op": "=", "target": 1}, {"op": ">", "target": 0}):
        assert not holds(found, condition)


def test_booleans_and_words():
    assert holds(pd.Series([True, True]), {"op": "=", "target": True})
    assert not holds(pd.Series([True, False]), {"op": "=", "target": True})
    assert holds(pd.Series(["a", "a"]), {"op": "=", "target": "a"})
    assert summarise(pd.Series([True, False])) == "true in 1 of 2"
    assert summarise(SERIES) == "1 to 3"
    assert summarise(SERIES, "sum") == "6"


def test_a_reduction_is_made_in_each_run_and_every_run_must_meet_the_condition():
    """The sums are 6 and 1; together they would be 7."""
    found = pd.concat([SERIES, pd.Series([1.0])], keys=[0, 1], names=["run"])
    assert not holds(found, {"op": ">=", "target": 6, "reduce": "sum"})
    assert not holds(found, {"op": "=", "target": 7, "reduce": "sum"})
    assert holds(found, {"op": ">=", "target": 1, "reduce": "sum"})
    assert summarise(found, "sum") == "1 to 6"


def test_values_of_seeds_are_told_apart():
    function = "sparkpart.experiments.usl_coefficients"
    test = {"function": function, "seeds": [0, 1], "field": "superlinear"}
    runs = claims.values(test).groupby(level="run").size()
    assert runs.tolist() == [16] * (1 if scale() == "quick" else 2)


def test_verdicts_in_their_order():
    strict = {"op": "<", "target": 2}
    own_field = {"field": "scan_only", "op": ">", "target": 1}
    function = {"function": "flex.experiments.comparisons", "field": "fifo_per_scan"}
    claim = {"test": {**function, **strict, "direction": own_field}}
    assert verdict(claim, pd.Series([3.0])) == "direction only"
    claim["test"]["direction"] = {**own_field, "op": "<"}
    assert verdict(claim, pd.Series([3.0])) == "differs"
    claim = {"test": {**strict, "direction": {"op": "<", "target": 4}}}
    assert verdict(claim, pd.Series([1.0])) == "reproduced"
    assert verdict(claim, pd.Series([3.0])) == "direction only"
    assert verdict(claim, pd.Series([5.0])) == "differs"
    own = {"test": {**strict, "otherwise": "paper inconsistent"}}
    assert verdict(own, pd.Series([5.0])) == "paper inconsistent"
    assert verdict({}, None) == "cannot be tested"


def test_no_row_or_no_field_is_an_error_not_a_verdict():
    test = {"function": "sparkpart.experiments.figure1", "field": "stage", "op": "=", "target": 1}
    with pytest.raises(ClaimsError, match="has no 'stage'"):
        claims.values({**test, "select": {"program": "nothing"}})
    with pytest.raises(ClaimsError, match="has no 'colour'"):
        claims.values({**test, "field": "colour"})


def _ledger(**changes):
    claim = {
        "id": "S1", "paper": "spark", "where": "Section 1", "claim": "A claim.", "value": 1,
        "kind": "result", "chapter": "spark/fits", "expected": "cannot be tested",
        "missing": "The measurements.",
    }  # fmt: skip
    return {"items": [], "claims": [{**claim, **changes}]}


@pytest.mark.parametrize(
    "changes",
    [{"kind": "guess"}, {"expected": "reproduced"}, {"missing": ""}, {"id": "X1"}, {"colour": 1}],
    ids=str,
)
def test_the_schema_refuses(changes, tmp_path, monkeypatch):
    path = tmp_path / "claims.yml"
    path.write_text(yaml.safe_dump(_ledger(**changes)), encoding="utf-8")
    monkeypatch.setattr(claims, "CLAIMS", path)
    with pytest.raises(ClaimsError, match=r"claims\.yml"):
        claims.load()


def test_one_id_twice_is_refused(tmp_path, monkeypatch):
    ledger = _ledger()
    ledger["claims"] *= 2
    path = tmp_path / "claims.yml"
    path.write_text(json.dumps(ledger), encoding="utf-8")
    monkeypatch.setattr(claims, "CLAIMS", path)
    with pytest.raises(ClaimsError, match="S1"):
        claims.load()


def test_tables_escape_text_and_carry_their_data():
    data = pd.DataFrame({"name": ["<b>"], "value": [1.23456]})
    html = show.table(data, "A & B", "file", digits=3).data
    assert "&lt;b&gt;" in html
    assert "A &amp; B" in html
    assert ">1.23<" in html
    assert 'download="file.csv"' in html
