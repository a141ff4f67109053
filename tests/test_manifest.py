"""The manifest is one file, complete, and asks for nothing that napari ignores."""

from pathlib import Path

import npe2
import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGED = ROOT / "src/napari_cosparse/napari.yaml"
KNOWN_KEYS = {"name", "display_name", "categories", "contributions"}


@pytest.fixture(scope="module")
def manifest():
    return npe2.PluginManifest.from_distribution("napari-cosparse")


def test_top_level_manifest_is_the_packaged_one():
    top = (ROOT / "napari.yaml").read_text()
    stub = "src/napari_cosparse/napari.yaml"  # what git writes where links are not supported
    assert top == PACKAGED.read_text() or top.strip() == stub


def test_installed_manifest_imports_and_repeats_the_distribution(manifest):
    manifest.validate_imports()
    assert manifest.name == manifest.package_metadata.name == "napari-cosparse"


def test_no_key_that_npe2_would_drop_silently():
    assert set(yaml.safe_load(PACKAGED.read_text())) == KNOWN_KEYS


def test_every_reference_is_a_command(manifest):
    parts = manifest.contributions
    commands = {command.id for command in parts.commands}
    used = {item.command for item in (*parts.widgets, *parts.sample_data)}
    used |= {item.command for items in parts.menus.values() for item in items}
    assert used == commands  # none missing, none idle


def test_menus_accept_contributions(manifest):
    menus = pytest.importorskip("napari._app_model.constants", reason="napari moved its menus")
    allowed = {str(menu) for menu in menus.MenuId.contributables()}
    assert set(manifest.contributions.menus) <= allowed
