"""Sphinx configuration; `python -m sphinx -W -b html docs docs/_build/html` builds the site."""

import sys
from pathlib import Path

import closecall

sys.path.insert(0, str(Path(__file__).parent))

project = "closecall"
author = "The closecall developers"
copyright = "The closecall developers"  # noqa: A001 - Sphinx's name
release = version = closecall.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "extension",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
default_role = "py:obj"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_filename_map = {  # on some systems file names differ by more than case
    "closecall.Affiliation": "closecall.Affiliation-class",
    "closecall.datasets.Demo": "closecall.datasets.Demo-class",
}
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "closecall"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 4,  # the four groups of index.md: nothing is under "More"
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "plots": [], "**": ["sidebar-nav-bs"]}
