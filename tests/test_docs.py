"""Every Python example in the README, the docs and the classes runs, from top to bottom."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import thresher.estimators
from thresher.data.sources.opening import FORMATS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.jit
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, page.name, "exec"), namespace)


@pytest.mark.jit
@pytest.mark.parametrize("name", thresher.estimators.__all__)
def test_examples_of_classes_show_what_they_give(name):
    words = getattr(thresher, name).__doc__
    example = doctest.DocTestParser().get_doctest(words, {}, name, None, None)
    assert doctest.DocTestRunner().run(example).failed == 0
    assert example.examples or name != "ThresherRegressor"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"shards"}))
def test_rules_of_a_format_stand_where_the_docs_say(form):
    module = FORMATS[form][0]
    assert f"`{module.rpartition('.')[2]}`" in (ROOT / "docs" / "files.md").read_text()
    rules = import_module(module).__doc__
    assert rules.count("\n- ") >= 3
    assert 'With ``on_error="skip"`` a refused' in " ".join(rules.split())
