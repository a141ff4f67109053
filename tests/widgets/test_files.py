"""Operator files in the viewer: dropped, shown, saved again."""

import numpy as np
import pytest
from napari.components import ViewerModel

from napari_cosparse.core.errors import InputError
from napari_cosparse.io import load_operators, save_operators
from napari_cosparse.layers import pairs_in
from napari_cosparse.widgets import _files


@pytest.fixture
def operator_file(tmp_path):
    return save_operators(tmp_path / "mine.npz", load_operators("intensity-depth"))


def test_operator_file_shows_its_atoms_and_is_written_again(operator_file, tmp_path):
    viewer = ViewerModel()
    layers = viewer.open(operator_file, plugin="napari-cosparse")
    assert len(layers) == 2
    assert list(pairs_in(viewer.layers)) == ["mine"]
    for number, chosen in enumerate((layers, layers[:1])):
        viewer.layers.selection = set(chosen)
        copy = tmp_path / f"copy{number}.npz"
        written = viewer.layers.save(str(copy), selected=True, plugin="napari-cosparse")
        assert written == [str(copy)]
        assert copy.read_bytes() == operator_file.read_bytes()


def test_own_ending_needs_no_choice_of_a_reader_or_writer(operator_file, tmp_path):
    """napari has both for .npz; nobody else knows .cosparse."""
    viewer = ViewerModel()
    layers = viewer.open(operator_file, plugin="napari-cosparse")
    alone, both = tmp_path / "mine.cosparse", tmp_path / "both.COSPARSE"
    assert layers[0].save(str(alone)) == [str(alone)]
    viewer.layers.selection = set(layers)
    assert viewer.layers.save(str(both), selected=True) == [str(both)]
    for path in (alone, both):
        assert path.read_bytes() == operator_file.read_bytes()
        other = ViewerModel()
        assert len(other.open(path, plugin=None)) == 2
        assert len(pairs_in(other.layers)) == 1


def test_other_archives_are_left_to_others(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, a=np.zeros(3))
    assert _files.get_reader(str(path)) is None


def test_broken_file_of_our_own_is_told(tmp_path):
    path = tmp_path / "broken.cosparse"
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"broken\.cosparse is not a usable operator file"):
        ViewerModel().open(path, plugin="napari-cosparse")


def test_layers_without_a_pair_are_not_written(tmp_path):
    with pytest.raises(InputError, match="'plain' shows no operator pair"):
        _files.write_layer(str(tmp_path / "x.npz"), np.zeros((3, 3)), {"name": "plain"})
    assert not list(tmp_path.iterdir())
