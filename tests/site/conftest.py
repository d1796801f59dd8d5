"""The built site, a server for it, and one browser a test module."""

import importlib.util
import os
import shutil
import threading
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def load_site_tool():
    """tools/site.py as a module (its name is taken by one of Python's own)."""
    spec = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> list[str]:
    """The addresses of all pages that _toc.yml lists, the root first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return [f"{name}.html" for name in [toc["root"], *(entry["file"] for part in toc["parts"] for entry in part["chapters"])]]


def notebook_pages() -> list[str]:
    """Those among them that are made from a notebook."""
    return [page for page in pages() if (ROOT / page).with_suffix(".ipynb").exists()]


def unavailable(reason: str) -> None:
    """Skip, or fail where nothing may be skipped."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built site."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").exists():
        unavailable("the site is not built: run `make book SERVE=0`")
    return folder


@pytest.fixture(scope="session")
def address(html) -> str:
    """Where `tools/site.py serve` serves it, with a slash at the end."""
    server = load_site_tool().server(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    path = next(filter(None, map(shutil.which, load_site_tool().BROWSERS)), None)
    if path is None:
        unavailable("no Chromium on this machine: `make system` installs one or says how")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()
