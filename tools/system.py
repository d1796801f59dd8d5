"""The two programs that are not Python packages: bubblewrap (the grader's sandbox) and a Chromium
(the browser tests).
"""

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing() -> list[str]:
    """Debian's names of the packages whose programs are not on this machine."""
    packages = []
    if shutil.which("bwrap") is None:
        packages.append("bubblewrap")
    if not any(map(shutil.which, BROWSERS)):
        packages.append("chromium")
    return packages


def main() -> None:
    """Install what is missing where that is possible, else say how."""
    packages = missing()
    if not packages:
        return
    remedy = f"sudo apt-get install {' '.join(packages)}"
    sudo = [] if os.name == "posix" and os.geteuid() == 0 else ["sudo", "--non-interactive"]
    may_install = shutil.which("apt-get") and (not sudo or shutil.which("sudo"))
    if may_install:
        subprocess.run([*sudo, "apt-get", "update", "-qq"], stdout=subprocess.DEVNULL)
        subprocess.run(
            [*sudo, "apt-get", "install", "-y", "-qq", *packages], stdout=subprocess.DEVNULL
        )
    if missing():
        print(
            f"Not on this machine: {', '.join(missing())}. The tests that need them are skipped. "
            f"To run them too: {remedy}"
        )
        if os.environ.get("CI") == "true":
            sys.exit("In CI those tests may not be skipped.")


if __name__ == "__main__":
    main()
