"""Public objects say what they take and give, as numpydoc reads it."""

import dataclasses
import importlib
import inspect
import pkgutil

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import Validator, validate

import napari_cosparse
from napari_cosparse import api

# For everything public.
CHECKS = {
    "GL08": "there is a docstring",
    "SS01": "it has a summary",
    "SS03": "the summary ends with a period",
    "PR01": "all parameters are documented",
    "PR02": "no others are",
    "PR03": "in the order of the signature",
    "RT01": "what is returned is documented",
    "YD01": "what is yielded is documented",
}
# For the functions of the facade, whose docstrings are also the tool-tips.
FACADE_CHECKS = {"PR04": "each parameter has a type", "PR07": "and a description"}
# Outside the facade one line is enough for members of a family, such as the methods of a protocol:
# the family is documented once. A docstring that goes further must be complete.
NOT_FOR_ONE_LINE = {"PR01", "RT01", "YD01"}
# numpydoc compares a constructor with "Parameters"; our records document "Attributes" instead.
NOT_FOR_RECORDS = {"PR01", "PR02", "PR03"}


def public_folders():
    """The package and those of its folders and modules that have a public list."""
    yield napari_cosparse
    for found in pkgutil.walk_packages(napari_cosparse.__path__, "napari_cosparse."):
        if not found.name.rpartition(".")[2].startswith("_"):
            module = importlib.import_module(found.name)
            if hasattr(module, "__all__"):
                yield module


def full_name(thing):
    return f"{thing.__module__}.{thing.__qualname__}"


def public_objects():
    """Full names of the public functions and classes, and of the public methods of these."""
    names = set()
    for module in public_folders():
        for thing in (getattr(module, name) for name in module.__all__):
            if inspect.isfunction(thing) or inspect.isclass(thing):
                names.add(full_name(thing))
            if inspect.isclass(thing):
                methods = filter(inspect.isfunction, vars(thing).values())
                names |= {full_name(m) for m in methods if not m.__name__.startswith("_")}
    return sorted(names)


OBJECTS = public_objects()
FACADE = {full_name(thing) for thing in (getattr(api, name) for name in api.__all__)}


def is_record(thing):
    """Whether a class says what it holds rather than what it is made from."""
    made_by_hand = "__init__" in vars(thing) and not getattr(thing, "_is_protocol", False)
    return dataclasses.is_dataclass(thing) or not made_by_hand


def checks_for(name, thing):
    in_facade = name in FACADE and not name.endswith("_steps")  # these refer to their twin
    wanted = set(CHECKS)
    if inspect.isclass(thing):
        return wanted - NOT_FOR_RECORDS if is_record(thing) else wanted
    if in_facade:
        return wanted | set(FACADE_CHECKS)
    return wanted if "---" in (thing.__doc__ or "") else wanted - NOT_FOR_ONE_LINE


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring(name):
    wanted = checks_for(name, Validator._load_obj(name))
    found = [(code, text) for code, text in validate(name)["errors"] if code in wanted]
    assert not found


RECORDS = [name for name in OBJECTS if dataclasses.is_dataclass(Validator._load_obj(name))]


@pytest.mark.parametrize("name", RECORDS)
def test_fields_of_records_are_described(name):
    record = Validator._load_obj(name)
    parts = NumpyDocString(inspect.getdoc(record))["Attributes"]
    described = {word.strip() for part in parts for word in part.name.split(",")}
    if described or name in FACADE:
        assert {field.name for field in dataclasses.fields(record)} <= described


def test_the_checks_see_functions_methods_and_records():
    assert len(OBJECTS) > 60
    assert len(RECORDS) > 10
    assert "napari_cosparse.core.reconstruction._upsample.upsample_steps" in OBJECTS
