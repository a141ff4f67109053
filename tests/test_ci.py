"""What the README tells people to run is what is checked."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_ci_runs_the_test_command_of_the_readme():
    script = (ROOT / ".ci/run").read_text()
    (command,) = re.findall(r"^test_command='(.*)'$", script, re.MULTILINE)
    assert command in (ROOT / "README.md").read_text().splitlines()
    assert 'bash -c "$test_command"' in script
