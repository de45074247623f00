"""Flow files: YAML and JSON, round trips, and one clear line for everything that is wrong."""

import json

import jsonschema
import numpy as np
import pytest
import yaml
from flows import dags, random_flow
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkpart import DataflowError, read_flow, write_flow
from sparkpart.flowfile import as_document, flow_from, schema

GOOD = """
degrees: [8, 16, 32]
initial: 32
repartition: 2.5
vertices:
  load: {degree: 96, times: {96: 40}}
  clean: {model: eq3, coefficients: {a: 5, b: 80, c: 0.5, d: 0.25}}
  train: {times: {8: 210, 16: 130, 32: 95, 64: 90}}
edges:
  - {from: load, to: clean}
  - {from: clean, to: train, repartition: {times: [[8, 16, 1], [8, 32, 2], [16, 8, 3],
     [16, 32, 4], [32, 8, 5], [32, 16, 6]]}}
"""


def good():
    return yaml.safe_load(GOOD)


@pytest.fixture
def file(tmp_path):
    def write(text, name="flow.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_totals_by_hand(file):
    flow = read_flow(file(GOOD))
    assert flow.names == ("load", "clean", "train")
    assert flow.initial.tolist() == [96, 32, 32]
    assert flow.running_time([96, 8, 16]) == 40 + 2.5 + (5 + 10 + 4 + 16) + 1 + 130
    assert flow.resource_consumption([96, 8, 16]) == 96 * 42.5 + 8 * 35 + 16 * 1 + 16 * 130


def test_degrees_of_the_flow_hold_where_a_vertex_gives_none():
    flow = flow_from(good())
    assert [flow.allowed(v) for v in range(3)] == [[96], [8, 16, 32], [8, 16, 32]]


def test_json_is_read_too(file):
    flow = read_flow(file(json.dumps(good(), default=str), "flow.json"))
    assert flow.names == ("load", "clean", "train")


def test_equation6_on_an_edge_by_hand():
    document = good()
    coefficients = {"a": 1.0, "b": 16.0, "cs": 0.0, "cr": 0.5, "d": 0.0, "e": 0.0}
    document["edges"][1]["repartition"] = {"model": "eq6", "coefficients": coefficients}
    flow = flow_from(document)
    assert flow.repartition[1, 0, 1] == 1 + 16 / 8 + 0.5 * 16


def test_a_degree_of_its_own_wins_over_the_initial_one_of_the_flow():
    document = good()
    document["vertices"]["train"]["initial"] = 8
    assert flow_from(document).initial.tolist() == [96, 32, 8]


@settings(max_examples=40, deadline=None)
@given(dags(), st.integers(0, 2**32 - 1))
def test_document_of_any_flow_follows_the_schema_and_gives_it_back(shape, seed):
    flow = random_flow(*shape, seed)
    text = yaml.safe_dump(as_document(flow), sort_keys=False)
    document = json.loads(json.dumps(yaml.safe_load(text)))
    jsonschema.Draft202012Validator(schema()).validate(document)
    again = flow_from(document)
    assert again.names == flow.names
    assert again.time.tolist() == flow.time.tolist()
    assert again.ends.tolist() == flow.ends.tolist()
    assert again.repartition.tolist() == flow.repartition.tolist()
    assert again.initial.tolist() == flow.initial.tolist()


@pytest.mark.parametrize("name", ["out.yaml", "out.json"])
def test_written_file_is_read_back(tmp_path, name):
    flow = flow_from(good())
    write_flow(flow, tmp_path / name)
    again = read_flow(tmp_path / name)
    plan = [96, 16, 8]
    assert again.running_time(plan) == pytest.approx(flow.running_time(plan))
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_schema_is_valid_itself():
    jsonschema.Draft202012Validator.check_schema(schema())


def changed(*path, value):
    document = good()
    entry = document
    for key in path[:-1]:
        entry = entry[key]
    if value is None:
        del entry[path[-1]]
    else:
        entry[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["vertices", "load", "degree"], None, "vertex load: a source needs its degree"),
        (["vertices", "train", "times"], {8: 1}, "vertex train: its times have none at degree 16"),
        (["vertices", "train", "times"], {}, "vertex train times: .* non-empty|should be"),
        (["vertices", "train", "times", 8], 0, "vertex train: the running time at degree 8 is 0"),
        (["vertices", "train", "times", 8], -1, "vertex train: the running time at degree 8 is -1"),
        (["vertices", "train", "times", 8], "x", "vertex train times 8: 'x' is not a number"),
        (["vertices", "train", "times", 8], float("nan"), "vertices train times 8: nan is not"),
        (["vertices", "train", "times"], {"a": 1}, "vertex train times: 'a' is not a whole number"),
        (["vertices", "train"], {}, "vertex train: either times, or model and coefficients"),
        (["vertices", "train", "model"], "eq3", "vertex train"),
        (["vertices", "clean", "model"], "eq9", "vertex clean"),
        (["vertices", "clean", "coefficients"], {"a": 1}, "vertex clean: Eq. 3 needs coefficient"),
        (["vertices", "clean", "coefficients", "c"], -99, "vertex clean: the running time at"),
        (["vertices", "clean", "degrees"], [], "vertex clean degrees"),
        (["vertices", "clean", "degrees"], [8, 8], "vertex clean degrees"),
        (["vertices", "clean", "degrees"], [0], "vertex clean degrees 0"),
        (["vertices", "clean", "colour"], "red", "vertex clean: .*colour"),
        (["vertices", "load", "degrees"], [96], "vertex load: degree and degrees exclude"),
        (["vertices", "clean", "initial"], 9, "vertex clean: the initial degree 9"),
        (["vertices"], None, "the file: 'vertices' is a required property"),
        (["edges", 0, "to"], "nobody", "edge load -> nobody: there is no vertex nobody"),
        (["edges", 1], {"from": "clean"}, "edges 1: 'to' is a required property"),
        (["edges", 1, "repartition"], -1, "edges 1 repartition: -1 is none of seconds"),
        (["edges", 1, "repartition"], {"times": [[8, 16, 1]]},
         "edge clean -> train: no repartition time from 8 to 32 nodes"),
        (["edges", 1, "repartition"], {"times": [[8, 16, 1], [8, 16, 2]]},
         "edge clean -> train: a pair of degrees is listed twice"),
        (["edges", 1, "repartition"], {"model": "eq6", "coefficients": {"a": 1}},
         "edge clean -> train: Eq. 6 needs coefficient"),
        (["degrees"], "all", "degrees: 'all' is not a list"),
    ],
)  # fmt: skip
def test_bad_documents_are_refused_by_place(path, value, message):
    with pytest.raises(DataflowError, match=message):
        flow_from(changed(*path, value=value))


def test_doubled_edge_is_named():
    document = good()
    document["edges"].append({"from": "load", "to": "clean"})
    with pytest.raises(DataflowError, match="edge load -> clean is listed twice"):
        flow_from(document)


def test_cycle_is_named():
    document = good()
    document["edges"].append({"from": "train", "to": "clean"})
    with pytest.raises(DataflowError, match=r"cycle: (clean -> train ->|train -> clean ->)"):
        flow_from(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "vertices: {a: {degree: 1, times: {1: 1}}, a: {degree: 1, times: {1: 1}}}",
            "line 1: 'a' is",
        ),
        ("vertices: {a: {degree: 8, times: {8: 1, 8: 2}}}", "line 1: 8 is listed twice"),
        ("a: [", "not YAML"),
        ("", "the file: nothing is given; a mapping is needed"),
        ("- 1", "the file: .* is not a mapping"),
        (b"\xff\xfe\x00", "not a text file in UTF-8"),
        ("[" * 3000, "nested too deeply|not YAML"),
        ("vertices: {? [1, 2] : {degree: 1}}", "not YAML"),
    ],
)
def test_bad_files_are_refused_by_name(file, text, message):
    path = file(text)
    with pytest.raises(DataflowError, match=message) as error:
        read_flow(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {degree: 8, times: {8: 1, '8': 2}}", "'8' is listed twice"),
        ("a: {degree: 8, times: {8: 1" + "0" * 400 + "}}", "line 1: a number of 401 digits"),
        ("a: {degree: 8, times: {8: 1" + "0" * 5000 + "}}", "line 1: a number of 5001 digits"),
        ("a: {degree: 8, times: {8: -1" + "0" * 320 + "}}", "vertices a times 8: -1000"),
        ("no: {degree: 8, times: {8: 1}}", "the name False is not text; put it in quotes"),
        ("~: {degree: 8, times: {8: 1}}", "the name None is not text; put it in quotes"),
        ("a: {degree: 8, times: [" + "1, " * 999 + "1]}", " ... "),
    ],
)
def test_odd_numbers_and_names_are_refused_briefly(file, text, message):
    path = file(f"vertices: {{{text}}}")
    with pytest.raises(DataflowError) as caught:
        read_flow(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


def test_aliases_that_multiply_are_refused(file):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    path = file("\n".join(lines))
    with pytest.raises(DataflowError, match="more than 1000000 entries, with those of its aliases"):
        read_flow(path)


def test_aliases_and_merges_are_read(file):
    path = file("vertices: {a: &x {degree: 8, times: {8: 1}}, b: *x, c: {<<: *x, times: {8: 2}}}")
    assert read_flow(path).time.tolist() == [[1], [1], [2]]


def test_whole_numbers_with_a_point_are_degrees(file):
    path = file("vertices: {a: {degrees: [8.0, 16.0], initial: 8.0, times: {8: 1, 16: 2}}}")
    flow = read_flow(path)
    assert flow.initial.tolist() == [8]
    assert flow.initial.dtype == flow.degrees.dtype == np.int64


def test_integers_are_kept_as_degrees(file):
    flow = read_flow(file(GOOD))
    assert flow.degrees.dtype == np.int64
