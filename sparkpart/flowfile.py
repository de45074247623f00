"""Data flows as YAML or JSON files.

The format is that of ``sparkpart/data/flow.schema.json``::

    degrees: [8, 16, 32, 64, 96]
    initial: 96
    repartition: 2.5
    vertices:
      load: {degree: 96, times: {96: 40}}
      clean: {model: eq3, coefficients: {a: 5, b: 420, c: 0.05, d: 0.001}}
      train: {times: {8: 210, 16: 130, 32: 95, 64: 90, 96: 96}}
    edges:
      - {from: load, to: clean}
      - {from: clean, to: train}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import yaml
from numpy.typing import NDArray

from sparkpart.dataflow import Dataflow, DataflowError, Edge, RepartitionTime, Vertex, free
from sparkpart.models import FitError, running_time
from sparkpart.output import write

__all__ = ["as_document", "flow_from", "read_flow", "schema", "write_flow"]

Array = NDArray[np.float64]
Document = dict[str, Any]


@cache
def schema() -> Document:
    """Return the JSON Schema of the format."""
    text = files("sparkpart.data").joinpath("flow.schema.json").read_text(encoding="utf-8")
    loaded: Document = json.loads(text)
    return loaded


LARGEST = sys.float_info.max
MOST_ENTRIES = 1_000_000
"""Most entries of a file, those of an alias counted each time."""

TYPES = {
    "object": "a mapping", "array": "a list", "string": "text", "number": "a number",
    "integer": "a whole number",
}  # fmt: skip


class _Loader(yaml.SafeLoader):
    """Refuses a key that occurs twice, where YAML would keep the last, and endless aliases."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _entries(node, {}) > MOST_ENTRIES:
            raise DataflowError(f"more than {MOST_ENTRIES} entries, with those of its aliases")
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > 400:
            line = node.start_mark.line + 1
            raise DataflowError(f"line {line}: a number of {len(node.value)} digits is too long")
        return super().construct_yaml_int(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        nodes = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        keys = [self.construct_object(key, deep=True) for key in nodes]
        for key_node, key in zip(nodes, keys, strict=True):
            if keys.count(key) > 1:
                line = key_node.start_mark.line + 1
                raise DataflowError(f"line {line}: {key!r} is listed twice")
        return super().construct_mapping(node, deep)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _entries(node: yaml.Node, known: dict[int, int]) -> int:
    """Count the entries of a node, each shared part once but with its full weight."""
    if id(node) not in known:
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in parts for part in pair]
        known[id(node)] = 1 + sum(_entries(part, known) for part in parts)
    return known[id(node)]


def read_flow(path: Path | str) -> Dataflow:
    """Read a data flow from a YAML or JSON file.

    Parameters
    ----------
    path
        The file; JSON is read as the YAML that it is.

    Raises
    ------
    DataflowError
        If the file does not follow the format, or its flow makes no sense; the message
        names the file, and the vertex or edge.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
        return flow_from(document)
    except UnicodeDecodeError as error:
        raise DataflowError(f"{path}: not a text file in UTF-8: {error.reason}") from error
    except yaml.YAMLError as error:
        raise DataflowError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise DataflowError(f"{path}: nested too deeply") from error
    except (DataflowError, FitError) as error:
        raise DataflowError(f"{path}: {error}") from error


def flow_from(document: object) -> Dataflow:
    """Return the data flow of a loaded document.

    Raises
    ------
    DataflowError
        If it does not follow the format, or its flow makes no sense.
    """
    document = _with_text_keys(document)
    for error in jsonschema.Draft202012Validator(schema()).iter_errors(document):
        raise DataflowError(_message(error))
    assert isinstance(document, dict)
    _check_numbers(document, ())
    edges = document.get("edges", [])
    for edge in edges:
        if unknown := {edge["from"], edge["to"]} - document["vertices"].keys():
            raise DataflowError(f"{_name(edge)}: there is no vertex {min(unknown)}")
    children = {edge["to"] for edge in edges}
    vertices = [
        _vertex(name, entry, document, source=name not in children)
        for name, entry in document["vertices"].items()
    ]
    default = document.get("repartition", 0)
    return Dataflow(
        vertices,
        [Edge(e["from"], e["to"], _repartition(e.get("repartition", default), e)) for e in edges],
    )


def _with_text_keys(value: object) -> object:
    """Return the document with keys as JSON has them: degrees as text."""
    if isinstance(value, dict):
        keys = [_text(key) for key in value]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataflowError(f"{twice!r} is listed twice, once as a number")
        return dict(zip(keys, map(_with_text_keys, value.values()), strict=True))
    return [_with_text_keys(entry) for entry in value] if isinstance(value, list) else value


def _text(key: object) -> str:
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        raise DataflowError(f"the name {key!r} is not text; put it in quotes")
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)


def _message(error: jsonschema.ValidationError) -> str:
    """Say where a document breaks the schema and how."""
    place = [str(part) for part in error.absolute_path]
    where = " ".join(place) or "the file"
    if len(place) > 1 and place[0] == "vertices":
        where = " ".join([f"vertex {place[1]}", *place[2:]])
        if error.validator == "oneOf" and len(place) == 2:
            return f"{where}: either times, or model and coefficients, are needed"
        if error.validator == "not":
            return f"{where}: degree and degrees exclude each other"
    if "repartition" in place and error.validator == "oneOf":
        return (
            f"{where}: {_brief(repr(error.instance))} is none of seconds (at least 0), model eq6 "
            "with its coefficients, and times as rows of senders, receivers, seconds"
        )
    if error.validator == "pattern" and "propertyNames" in error.absolute_schema_path:
        return f"{where}: {_brief(repr(error.instance))} is not a whole number above 0"
    return f"{where}: {_reason(error)}"


def _reason(error: jsonschema.ValidationError) -> str:
    """Say what is wrong, in words of the format rather than of JSON, and briefly."""
    if error.validator == "type" and error.instance is None:
        return f"nothing is given; {TYPES[error.validator_value]} is needed"
    if error.validator == "type":
        return f"{_brief(repr(error.instance))} is not {TYPES[error.validator_value]}"
    return _brief(error.message)


def _brief(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _check_numbers(value: object, place: tuple[str, ...]) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_numbers(entry, (*place, str(key)))
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            _check_numbers(entry, (*place, str(i)))
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise DataflowError(
            f"{' '.join(place)}: {_brief(str(value))} is not a number to calculate with"
        )


def _vertex(name: str, entry: Document, document: Document, *, source: bool) -> Vertex:
    if source and not {"degree", "degrees"} & entry.keys():
        raise DataflowError(
            f"vertex {name}: a source needs its degree (fixed), or degrees to choose from"
        )
    degrees = _degrees(name, entry, document)
    if "times" in entry:
        times = {int(key): float(value) for key, value in entry["times"].items()}
        if missing := [d for d in degrees if d not in times]:
            raise DataflowError(f"vertex {name}: its times have none at degree {missing[0]}")
    else:
        times = _modelled(name, entry, degrees)
    initial = entry.get("initial", document.get("initial"))
    if "initial" not in entry and initial not in degrees and len(degrees) == 1:
        initial = degrees[0]
    return Vertex(name, {d: times[d] for d in degrees}, None if initial is None else int(initial))


def _degrees(name: str, entry: Document, document: Document) -> list[int]:
    if "degree" in entry:
        return [int(entry["degree"])]
    if "degrees" in entry:
        return sorted(map(int, entry["degrees"]))
    if "times" in entry and "degrees" not in document:
        return sorted(int(key) for key in entry["times"])
    if "degrees" not in document:
        raise DataflowError(f"vertex {name}: its model needs degrees, here or for the whole flow")
    return sorted(map(int, document["degrees"]))


def _modelled(name: str, entry: Document, degrees: list[int]) -> dict[int, float]:
    try:
        seconds = running_time(entry["model"], degrees, entry["coefficients"])
    except FitError as error:
        raise DataflowError(f"vertex {name}: {error}") from error
    return dict(zip(degrees, seconds.tolist(), strict=True))


def _name(edge: Mapping[str, str]) -> str:
    return f"edge {edge['from']} -> {edge['to']}"


def _repartition(entry: object, edge: Mapping[str, str]) -> RepartitionTime:
    """Return the repartitioning time that a file describes."""
    name = _name(edge)
    if not isinstance(entry, dict):
        seconds = float(entry)  # type: ignore[arg-type]
        return free if seconds == 0 else lambda s, r: np.full(np.shape(s), seconds)
    if "model" in entry:
        return lambda s, r: _equation6(name, entry["coefficients"], s, r)
    table = {(row[0], row[1]): float(row[2]) for row in entry["times"]}
    if len(table) < len(entry["times"]):
        raise DataflowError(f"{name}: a pair of degrees is listed twice in its repartition times")
    return lambda s, r: _looked_up(name, table, s, r)


def _equation6(name: str, coefficients: Mapping[str, float], s: Array, r: Array) -> Array:
    try:
        return running_time("eq6", np.stack([s, r], axis=1), coefficients)
    except FitError as error:
        raise DataflowError(f"{name}: {error}") from error


def _looked_up(name: str, table: Mapping[tuple[int, int], float], s: Array, r: Array) -> Array:
    pairs = list(zip(s.astype(int).tolist(), r.astype(int).tolist(), strict=True))
    for pair in pairs:
        if pair not in table:
            raise DataflowError(f"{name}: no repartition time from {pair[0]} to {pair[1]} nodes")
    return np.array([table[pair] for pair in pairs])


def as_document(flow: Dataflow) -> Document:
    """Return a flow as a document of the format, with tables of times."""
    vertices: Document = {}
    sources = set(flow.sources.tolist())
    for v, name in enumerate(flow.names):
        allowed = flow.allowed(v)
        at = np.searchsorted(flow.degrees, allowed)
        entry: Document = {"times": dict(zip(allowed, flow.time[v, at].tolist(), strict=True))}
        entry["initial"] = int(flow.initial[v])
        if len(allowed) == 1:
            entry["degree"] = allowed[0]
        elif v in sources:
            entry["degrees"] = allowed
        vertices[name] = entry
    return {"vertices": vertices, "edges": [_edge(flow, k) for k in range(len(flow.ends))]}


def _edge(flow: Dataflow, k: int) -> Document:
    parent, child = flow.ends[k].tolist()
    rows = [
        [s, r, float(flow.repartition[k, i, j])]
        for s in flow.allowed(parent)
        for r in flow.allowed(child)
        for i, j in [np.searchsorted(flow.degrees, [s, r])]
        if s != r
    ]
    edge: Document = {"from": flow.names[parent], "to": flow.names[child]}
    return edge | ({"repartition": {"times": rows}} if rows else {})


def write_flow(flow: Dataflow, path: Path | str) -> None:
    """Write a flow as YAML, or as JSON if the name ends in ``.json``; aside, then renamed.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    document = as_document(flow)
    if Path(path).suffix.lower() == ".json":
        text = json.dumps(document, indent=2)
    else:
        text = yaml.safe_dump(document, sort_keys=False)
    write(Path(path), lambda aside: aside.write_text(text, encoding="utf-8"))
