"""What the README tells people to run is what is checked, and nothing is left out unseen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = (ROOT / ".ci/run").read_text()


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^test_command='(.*)'$", SCRIPT, re.MULTILINE)
    assert command in (ROOT / "README.md").read_text().splitlines()
    assert 'bash -c "$test_command"' in SCRIPT


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("def test():\n    pytest.skip('a test')", True),
        ("pytest.importorskip('no_such_module')\ndef test(): pass", True),
        ("@pytest.mark.xfail\ndef test():\n    assert False", False),
        ("def test(): pass", False),
    ],
)
def test_ci_sees_tests_and_files_that_are_skipped(tmp_path, code, seen):
    (pattern,) = re.findall(r"^if grep -qE '(.*)' \"\$scratch/tests.xml\"", SCRIPT, re.MULTILINE)
    (tmp_path / "test_it.py").write_text(f"import pytest\n{code}\n")
    outside = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    subprocess.run(
        [sys.executable, "-m", "pytest", "--junit-xml=tests.xml", "test_it.py"],
        cwd=tmp_path, env=outside | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, check=False,
    )  # fmt: skip
    assert bool(re.search(pattern, (tmp_path / "tests.xml").read_text())) == seen
