"""The documentation names what exists: files, functions, options, the version."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from napari_cosparse import __version__, shipped_operators
from napari_cosparse.cli._parser import parse

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/napari_cosparse"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PROGRAM = "napari-cosparse"


def names(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


def anchor(heading):
    """Make the fragment that GitHub makes of a heading."""
    words = re.sub(r"[^\w\s-]", "", heading.lower())
    return words.strip().replace(" ", "-")


def code_blocks(page):
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands():
    """All lines of code blocks that run the program, with the page they stand on."""
    for page in PAGES:
        lines = "\n".join(block for language, block in code_blocks(page) if not language)
        for line in re.findall(rf"^(?:.* )?(?:\S*/)?{PROGRAM} (.*)$", lines, re.MULTILINE):
            yield page.name, shlex.split(line, comments=True)


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        if link.startswith(("https://", "http://")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if fragment:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert fragment in map(anchor, headings), link


def test_every_picture_is_shown_and_small():
    shown = {
        (page.parent / link).resolve() for page in PAGES for link in LINK.findall(page.read_text())
    }
    pictures = set((ROOT / "docs/pictures").glob("*.png"))
    assert pictures
    assert pictures <= shown
    assert max(picture.stat().st_size for picture in pictures) <= 300_000


def test_every_decision_is_listed():
    records = {path.name for path in (ROOT / "docs/decisions").glob("0*.md")}
    listed = LINK.findall((ROOT / "docs/decisions/README.md").read_text())
    assert records == set(listed)


def defined(path):
    """Names that a module defines at its top level."""
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_functions_of_the_documentation_exist():
    found = [
        (page.name, *match)
        for page in PAGES
        for match in re.findall(r"`([\w/]+\.py):(\w+)`", page.read_text())
    ]
    assert len([page for page, *_ in found if page == "mathematics.md"]) > 20
    for page, file, function in found:
        candidates = [SOURCE / file, *SOURCE.rglob(f"*/{file}")]
        here = [path for path in candidates if path.is_file()]
        assert any(function in defined(path) for path in here), f"{page}: {file}:{function}"


def test_files_of_the_documentation_exist():
    for page in PAGES:
        for file in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|json))`", page.read_text()):
            places = (ROOT / file, SOURCE / file)
            assert any(place.is_file() for place in places), f"{page.name}: {file}"


@pytest.mark.parametrize(("page", "words"), list(commands()))
def test_commands_are_understood(page, words):
    assert callable(parse(words).run)


def test_the_readme_shows_every_command():
    shown = {words[0] for page, words in commands() if page == "README.md"}
    assert shown == {"demo", "upsample", "learn", "register", "apply", "operators", "info"}


def test_the_readme_lists_the_shipped_operators():
    table = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(shipped_operators()) <= set(table)


def test_names_in_python_examples_exist():
    import napari_cosparse

    for page in PAGES:
        for language, block in code_blocks(page):
            if language == "python":
                for name in re.findall(r"\bnc\.(\w+)", block):
                    assert name in napari_cosparse.__all__, f"{page.name}: {name}"


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = [block for language, block in code_blocks(ROOT / "README.md") if language]
    exec(example.replace("make_scene()", "make_scene((64, 80))"), {})  # noqa: S102
    assert (tmp_path / "my-pair.npz").is_file()


def test_the_changelog_has_the_version():
    heads = re.findall(r"^## \[?([\w.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert __version__ in heads
