"""The page's script: one file of many modules."""

import re

from closecall.report.explorer import MODULES, asset, bundle


def test_every_module_is_in_the_bundle_after_what_it_imports():
    for place, name in enumerate(MODULES):
        imported = re.findall(r'from "\./(\w+)\.js"', asset(f"{name}.js"))
        assert set(imported) <= set(MODULES[:place]), name
    assert not re.search(r"^(import|export) ", bundle(), flags=re.MULTILINE)
    assert "</script" not in bundle()
    assert "https://" not in bundle()
