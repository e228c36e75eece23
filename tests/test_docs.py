"""The documentation: every example runs and shows what it gives, and every link leads somewhere."""

import io
import re
import shlex
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from click.testing import CliRunner

import thresher
from thresher.cli import commands, failing
from thresher.formats.opening import FORMATS
from thresher.formats.protocol import EVERY_FORMAT, Reading

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "tests" / "README.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if re.search("^```(python|sh)$", page.read_text(), re.M)]
# Code of a page, and what it prints if that follows: ```python ... ``` ```text ... ```
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", re.DOTALL | re.M)
MOST_WORDS, MOST_LINES = 20_000, 180  # of README and docs, and of README

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + page.name)


def text_of(page):
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.M)


def anchors_of(page):
    """Return what headings of a page are called in links, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def run_python(code, name, namespace):
    """Run a block, and return what it prints."""
    with redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, name, "exec"), namespace)
    return printed.getvalue()


def run_shell(code):
    """Run the lines that begin with ``thresher``, and return what they print."""
    printed = []
    for line in code.replace("\\\n", " ").splitlines():
        if not line.startswith("thresher "):
            continue
        words = shlex.split(line, comments=True)
        words, out = (words[:-2], words[-1]) if ">" in words else (words, None)
        done = CliRunner().invoke(commands.thresher, words[1:])
        assert done.exit_code == 0, f"{line}\n{done.stderr}"
        if out is None:
            printed.append(done.stdout)
        else:
            Path(out).write_text(done.stdout)
    return "".join(printed)


@pytest.mark.jit
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.parent.name + page.name)
def test_examples_run_and_show_what_they_give(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for kind, code, shown in BLOCK.findall(page.read_text()):
        printed = run_python(code, page.name, namespace) if kind == "python" else run_shell(code)
        if shown:  # how wide columns are depends on versions of pandas
            assert printed.split() == shown.split()


@every_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text_of(page)):
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not anchor or anchor in anchors_of(place), f"{target}#{anchor}"


def test_pages_are_short():
    others = {"CHANGELOG.md", "reproduction.md"}  # recorded results
    pages = [page for page in PAGES if page.parent.name != "tests" and page.name not in others]
    assert sum(len(page.read_text().split()) for page in pages) <= MOST_WORDS
    assert len((ROOT / "README.md").read_text().splitlines()) <= MOST_LINES


def test_the_index_has_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, page.name


def test_readme_has_every_estimator():
    readme = (ROOT / "README.md").read_text()
    names = [name for name in thresher.__all__ if name.endswith(("Classifier", "Regressor"))]
    assert [name for name in names if f"`{name}`" not in readme] == []


def test_the_page_on_files_has_every_format_and_option():
    page = (ROOT / "docs" / "files.md").read_text()
    options = set(Reading.__dataclass_fields__) - set(EVERY_FORMAT)
    endings = {ending for entry in FORMATS.values() for ending in entry.endings}
    expected = {*FORMATS, *endings, *options, *EVERY_FORMAT}
    assert [name for name in sorted(expected) if f"`{name}`" not in page] == []


def test_the_page_on_files_has_every_exit_code():
    page = (ROOT / "docs" / "files.md").read_text()
    assert [code for code in failing.MEANINGS if f"| {code} |" not in page] == []


def test_the_list_of_promises_has_every_file_of_tests():
    page = (ROOT / "tests" / "README.md").read_text()
    there = {path.name for path in (ROOT / "tests").glob("test_*.py")}
    assert sorted(name for name in there if f"`{name}`" not in page) == []
