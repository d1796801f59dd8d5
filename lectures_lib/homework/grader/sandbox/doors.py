"""Before a class is graded: does the sandbox work on this machine, and is it shut?"""

import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from lectures_lib.homework.grader.sandbox import bubblewrap, guest, seccomp, template
from lectures_lib.homework.grader.sandbox.bubblewrap import (
    INSIDE,
    INSTALL,
    PACKAGE,
    PROCESSES,
    Refused,
)
from lectures_lib.homework.grader.sandbox.line import Lost
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits

ALLOW = (
    "Bubblewrap needs user namespaces for ordinary users. Where Ubuntu's AppArmor forbids them: "
    "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; elsewhere: sudo sysctl "
    "user.max_user_namespaces=15000. In a container, start it so that it may make namespaces, or "
    "grade on the machine itself."
)


def require(hidden: Iterable[Path] = (), container: bool = False) -> bool:
    """Make sure that the sandbox works on this machine and is shut.

    Args:
        hidden: files and folders that must not be seen from inside, besides question banks,
            solutions and tests.
        container: whether this is a container that serves one submission and is thrown away: where
            the sandbox does not start, the weaker walls of `guest` do.

    Returns:
        Whether one warm process can serve many submissions, which costs a tenth; else each gets a
        process that imports torch anew.

    Raises:
        Refused: if not, with what to do about it.
    """
    if sys.platform != "linux":
        raise Refused(
            "Grading needs Linux: the sandbox for student code is made with bubblewrap. Elsewhere, "
            "use a virtual machine."
        )
    if platform.machine() not in seccomp.MACHINES:
        raise Refused(
            f"Grading works on {' and '.join(seccomp.MACHINES)}; of {platform.machine()} the "
            f"system calls are not known."
        )
    banks = [
        path
        for path in (PACKAGE / "homework").iterdir()
        if not (INSIDE / path.name).exists() and path.name != "__pycache__"
    ]
    solutions = [
        path
        for path in (PACKAGE.parent / "solutions", PACKAGE.parent / "tests" / "homework")
        if path.exists()
    ]
    paths = [str(path.resolve()) for path in (*banks, *solutions, *hidden)]
    try:
        open_doors = _tried_in_bubblewrap(paths)
    except Refused as refusal:
        if not container:
            raise
        try:
            guest.prepare([*solutions, *hidden])
            template.use(warm=False, as_guest=True)
            open_doors = _try_doors(paths)
        except Refused as second:
            raise Refused(f"{refusal}\nNor do the weaker walls of --container: {second}") from None
    if open_doors:
        raise Refused(
            f"The sandbox for student code is not shut: {'; '.join(map(str, open_doors))}."
        )
    return template.warm()


def _tried_in_bubblewrap(paths: list[str]) -> list[str]:
    """Which doors are open in bubblewrap's sandbox, with one process for many submissions where the
    machine allows it.
    """
    bubblewrap.executable()
    template.use(warm=True)
    try:
        return _try_doors(paths)
    except Refused:
        template.use(warm=False)
        return _try_doors(paths)


def require_own_imports() -> None:
    """Make sure that this process, a worker of a cluster, imports nothing from the folder it was
    started in.

    Raises:
        Refused: if it would.
    """
    here = Path.cwd()
    if here != PACKAGE.parent.resolve() and any(
        Path(entry).resolve() == here for entry in sys.path
    ):
        raise Refused(
            f"the worker imports what lies in {here}, where it was started: start it with "
            f"PYTHONSAFEPATH=1 in its environment"
        )


def _try_doors(paths: list[str]) -> list[str]:
    """Which doors are open, tried from inside."""
    try:
        with Sandbox(Limits()) as sandbox:
            outcome = sandbox.ask(
                {
                    "do": "probe",
                    "hidden": paths,
                    "processes": PROCESSES,
                    "guest": template.as_guest(),
                },
                seconds=60.0,
            )
    except Refused as refusal:
        complaint = str(refusal)
        raise Refused(
            f"The sandbox for student code does not start: {complaint}\n{_remedy(complaint)}"
        ) from None
    except Lost as lost:
        raise Refused(
            f"The sandbox for student code starts, but does not answer ({lost.kind})."
        ) from None
    if outcome.raised or not isinstance(outcome.value, list):
        raise Refused(
            f"The doors of the sandbox could not be tried: "
            f"{outcome.raised or outcome.lost or outcome.value}."
        )
    return outcome.value


def _remedy(complaint: str) -> str:
    if "Unknown option" in complaint:
        return f"This bubblewrap is too old; 0.8 is known to do. {INSTALL}"
    if "as root" in complaint:
        return (
            "Grade as an ordinary user, or keep Python and the course outside private folders such "
            "as /root."
        )
    if "Python" in complaint or "can't open file" in complaint or "source path" in complaint:
        return (
            "The Python environment and the course must be readable for every user: put them "
            "outside private folders."
        )
    return ALLOW
