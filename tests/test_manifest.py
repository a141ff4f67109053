"""The manifest is one file, complete, and asks for nothing that napari ignores."""

from pathlib import Path

import npe2
import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGED = ROOT / "src/napari_cosparse/napari.yaml"
KNOWN_KEYS = {"name", "display_name", "icon", "categories", "contributions"}


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
    used = {
        item.command
        for items in (parts.widgets, parts.sample_data, parts.readers, parts.writers)
        for item in items
    }
    used |= {item.command for items in parts.menus.values() for item in items}
    assert used == commands  # none missing, none idle


def test_menus_accept_contributions(manifest):
    menus = pytest.importorskip("napari._app_model.constants", reason="napari moved its menus")
    allowed = {str(menu) for menu in menus.MenuId.contributables()}
    assert set(manifest.contributions.menus) <= allowed


def test_menus_where_people_look(manifest):
    menus = manifest.contributions.menus
    shown = {menu: {item.command.rpartition(".")[2] for item in menus[menu]} for menu in menus}
    assert shown == {
        "napari/layers/register": {"register"},
        "napari/layers/transform": {"register"},
        "napari/layers/filter": {"upsample"},
        "napari/layers/data": {"learn"},
    }


def test_preferences_have_the_defaults_that_the_panels_fall_back_to(manifest):
    configure = pytest.importorskip("napari_cosparse.widgets._configure")
    (section,) = manifest.contributions.configurations.values()
    defaults = {name: part.default for name, part in section.properties.items()}
    assert defaults == configure.DEFAULTS


def test_preferences_are_read(manifest, plugin_settings, npe2pm):
    from napari.settings import get_plugin_settings

    from napari_cosparse.widgets import _configure

    npe2pm.register(manifest)
    settings = get_plugin_settings("napari-cosparse")
    settings.computing.upsampling_operators = "differences"
    assert _configure.default_operators() == "differences"
    settings.computing.upsampling_operators = "no such pair"
    assert _configure.default_operators() == "intensity-depth"
