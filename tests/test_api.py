"""Every public name exists, is documented and typed; the examples run."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import typing

import pytest

import flex
import sparkpart

PACKAGES = {"flex": flex, "sparkpart": sparkpart}
MODULES = sorted(
    name
    for package in PACKAGES.values()
    for _, name, _ in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not name.endswith("__main__")
)
WITH_ALL = [name for name in MODULES if hasattr(importlib.import_module(name), "__all__")]
PUBLIC = [(p, name) for p, package in PACKAGES.items() for name in package.__all__]
PUBLIC += [(m, name) for m in WITH_ALL for name in importlib.import_module(m).__all__]


def callables():
    """Public functions, and the public methods and properties of public classes."""
    for module, name in PUBLIC:
        thing = getattr(importlib.import_module(module), name)
        if inspect.isfunction(thing):
            yield f"{module}.{name}", thing
        elif inspect.isclass(thing):
            for key, member in vars(thing).items():
                member = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if inspect.isfunction(member) and not key.startswith("_"):
                    yield f"{module}.{name}.{key}", member


CALLABLES = dict(callables())


def test_package_exports_the_everyday_names():
    assert sparkpart.__all__ == [
        "MODELS", "USL", "Bootstrap", "Dataflow", "DataflowError", "Edge", "Fit", "FitError",
        "Model", "Optimum", "Recommendation", "RunsError", "Search", "Vertex", "compare",
        "fastest", "fit", "front", "greedy", "ils", "optimum", "read_flow", "read_runs",
        "recommend", "running_time", "write_flow",
    ]  # fmt: skip
    assert flex.__all__ == [
        "AUTHOR", "PAPER", "POLICIES", "Day", "Node", "Policy", "Result", "Rules", "Task",
        "Workload", "WorkloadError", "load", "percent_free", "read_tasks", "read_workload", "save",
        "simulate", "synthesize",
    ]  # fmt: skip
    for package in PACKAGES.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", package.__version__)


def test_every_module_with_functions_declares_its_names():
    internal = {"sparkpart.data", "sparkpart.experiments.figures", "sparkpart.experiments.real",
                "sparkpart.experiments.tables"}  # fmt: skip
    assert set(MODULES) - set(WITH_ALL) == internal


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_name_exists(module, name):
    assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("module", [*PACKAGES, *WITH_ALL])
def test_list_of_names_has_no_repeats_and_the_module_a_docstring(module):
    loaded = importlib.import_module(module)
    assert len(loaded.__all__) == len(set(loaded.__all__))
    assert loaded.__doc__.strip().splitlines()[0].endswith(".")


@pytest.mark.parametrize("module", WITH_ALL)
def test_functions_and_classes_without_underscore_that_others_use_are_listed(module):
    loaded = importlib.import_module(module)
    own = {
        name
        for name, thing in vars(loaded).items()
        if (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module
        and not name.startswith("_")
    }
    assert own <= set(loaded.__all__)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_function_or_class_has_a_summary_line(module, name):
    thing = getattr(importlib.import_module(module), name)
    if inspect.isfunction(thing) or inspect.isclass(thing):
        assert has_summary(thing.__doc__)


def has_summary(doc):
    first, *rest = inspect.cleandoc(doc).splitlines()
    return first.endswith(".") and (not rest or not rest[0])


@pytest.mark.parametrize("name", CALLABLES)
def test_callable_is_documented_and_completely_typed(name):
    function = CALLABLES[name]
    assert has_summary(function.__doc__)
    hints = typing.get_type_hints(function)
    parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    assert set(hints) == {*parameters, "return"}


@pytest.mark.parametrize("name", CALLABLES)
def test_section_of_parameters_names_the_real_ones(name):
    doc = inspect.cleandoc(CALLABLES[name].__doc__)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.M | re.S)
    if section:
        lines = re.findall(r"^\w.*$", section[1], re.M)
        named = [n for line in lines for n in line.partition(" : ")[0].split(", ")]
        signature = inspect.signature(CALLABLES[name]).parameters
        assert sorted(named) == sorted(p for p in signature if p != "self")


@pytest.mark.parametrize("package", PACKAGES)
def test_package_docstring_names_existing_modules(package):
    listed = set(re.findall(r"`(\w+)`", PACKAGES[package].__doc__)) - {"data"}
    top = {name.split(".")[1] for name in MODULES if name.startswith(f"{package}.")} - {"data"}
    assert listed == top


@pytest.mark.parametrize("module", [*PACKAGES, *MODULES])
def test_examples_in_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0
    assert result.attempted > 0 or module not in PACKAGES


@pytest.mark.parametrize("module", [m for m in MODULES if m != "sparkpart.plots"])
def test_matplotlib_is_imported_by_the_plots_alone(module):
    """It is not among the dependencies of the package itself; functions may import it late."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)) or "pass")
    imported = {n.module for n in tree.body if isinstance(n, ast.ImportFrom)}
    imported |= {a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    assert not any(name.startswith(("matplotlib", "sparkpart.plots")) for name in imported)
