"""Parts of a page that a command writes: between ``<!-- name -->`` and ``<!-- end of name -->``."""

import re

from experiments.errors import StudyError


def with_sections(page: str, sections: dict[str, str]) -> str:
    """Return the page with new text between the marks of each section."""
    for name, text in sections.items():
        first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
        marked = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.DOTALL)
        if len(marked.findall(page)) != 1:
            raise StudyError(f"the page needs {first} and {last}, once, around its table")
        page = marked.sub(lambda _, new=f"{first}\n{text}\n{last}": new, page)
    return page
