"""How a homework's first cell installs what is missing. Those who do homework are alone with what
goes wrong: where pip fails, the cell says what it could not install, and what to do.
"""

from string import Template

_INSTALL_AND_TELL = Template("""\
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    command = [*pip, "--quiet", $packages]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise RuntimeError(
            f"pip could not install $what.\\n"
            f"- $who needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]}.\\n"
            "- $network Does $page open in a browser?\\n"
            "- On Colab: Runtime > Disconnect and delete runtime; then try again.\\n"
            "What pip said last:\\n" + "\\n".join(said[-10:])
        )""")


def install_and_tell(packages: str, what: str, who: str, network: str, page: str) -> str:
    """The lines of the cell that install, indented once.

    Args:
        packages: an expression, or several, that give pip's arguments.
        what: it could not be installed; what stands in braces is computed in the cell.
        who: begins the sentence about the versions of Python.
        network: a sentence on what the installation needs.
        page: what a browser should be able to open.
    """
    return _INSTALL_AND_TELL.substitute(
        packages=packages, what=what, who=who, network=network, page=page
    )
