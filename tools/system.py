"""The two programs that are not Python packages: bubblewrap (the grader's sandbox) and a Chromium
(the browser tests). Debian has one without windows, in which these take a third less time.
"""

import os
import shutil
import subprocess
import sys

WINDOWLESS = "chromium-headless-shell"
BROWSERS = (WINDOWLESS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def known(package: str) -> bool:
    """Whether apt has a package of that name."""
    if shutil.which("apt-cache") is None:
        return False
    asked = subprocess.run(["apt-cache", "show", package], capture_output=True)
    return asked.returncode == 0


def missing() -> list[str]:
    """Debian's names of what is not on this machine and has to be."""
    packages = []
    if shutil.which("bwrap") is None:
        packages.append("bubblewrap")
    if not any(map(shutil.which, BROWSERS)):
        packages.append(WINDOWLESS if known(WINDOWLESS) else "chromium")
    return packages


def wanted() -> list[str]:
    """What is missing, and the browser without windows where apt has it."""
    packages = missing()
    if WINDOWLESS not in packages and shutil.which(WINDOWLESS) is None and known(WINDOWLESS):
        packages.append(WINDOWLESS)
    return packages


def main() -> None:
    """Install what is wanted where that is possible; say how, if something is missing after it."""
    if not wanted():
        return
    sudo = [] if os.name == "posix" and os.geteuid() == 0 else ["sudo", "--non-interactive"]
    may_install = shutil.which("apt-get") and (not sudo or shutil.which("sudo"))
    if may_install:
        subprocess.run([*sudo, "apt-get", "update", "-qq"], stdout=subprocess.DEVNULL)
        subprocess.run(
            [*sudo, "apt-get", "install", "-y", "-qq", *wanted()], stdout=subprocess.DEVNULL
        )
    if missing():
        remedy = f"sudo apt-get install {' '.join(missing())}"
        print(
            f"Not on this machine: {', '.join(missing())}. The tests that need them are skipped. "
            f"To run them too: {remedy}"
        )
        if os.environ.get("CI") == "true":
            sys.exit("In CI those tests may not be skipped.")


if __name__ == "__main__":
    main()
