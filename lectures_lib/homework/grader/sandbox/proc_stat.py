"""Processes as Linux tells of them: the fields of /proc/PID/stat, counted from behind the name."""

from pathlib import Path

STATE, PARENT, TIMES, PAGES = 0, 1, slice(11, 15), 21


def tree(pid: int) -> dict[int, list[str]]:
    """The fields of a process and of all that it has started, by number; without those that end
    meanwhile.
    """
    seen: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _fields(folder):
            seen[int(folder.name)] = fields
            children.setdefault(int(fields[PARENT]), []).append(int(folder.name))
    for each in (found := [pid]):
        found += children.get(each, [])
    return {each: seen[each] for each in found if each in seen}


def parent(pid: int) -> int:
    """The process that started this one; 0 if it is gone."""
    fields = _fields(Path(f"/proc/{pid}"))
    return int(fields[PARENT]) if fields else 0


def _fields(folder: Path) -> list[str]:
    """What a process's folder says; nothing if it has just ended."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
