"""The system calls that are refused to student code: `sandbox.seccomp` makes filters of them, and
the probe tries each.

Each has its number on each kind of machine; where one is missing, the machine has no such call.
"""

# What is refused, and its number on each kind of machine.
REFUSED = {
    "memfd_create": {"x86_64": 319, "aarch64": 279},
    "memfd_secret": {"x86_64": 447, "aarch64": 447},
    "shmget": {"x86_64": 29, "aarch64": 194},
    "msgget": {"x86_64": 68, "aarch64": 186},
    "semget": {"x86_64": 64, "aarch64": 190},
    "add_key": {"x86_64": 248, "aarch64": 217},
    "request_key": {"x86_64": 249, "aarch64": 218},
    "keyctl": {"x86_64": 250, "aarch64": 219},
    "bpf": {"x86_64": 321, "aarch64": 280},
    "perf_event_open": {"x86_64": 298, "aarch64": 241},
    "userfaultfd": {"x86_64": 323, "aarch64": 282},
    "io_uring_setup": {"x86_64": 425, "aarch64": 425},
    "mq_open": {"x86_64": 240, "aarch64": 180},
    "io_setup": {"x86_64": 206, "aarch64": 0},
    "io_uring_enter": {"x86_64": 426, "aarch64": 426},
    "io_uring_register": {"x86_64": 427, "aarch64": 427},
    "splice": {"x86_64": 275, "aarch64": 76},
    "tee": {"x86_64": 276, "aarch64": 77},
    "vmsplice": {"x86_64": 278, "aarch64": 75},
    "personality": {"x86_64": 135, "aarch64": 92},
    "modify_ldt": {"x86_64": 154},
    "get_mempolicy": {"x86_64": 239, "aarch64": 236},
    "set_mempolicy": {"x86_64": 238, "aarch64": 237},
    "set_mempolicy_home_node": {"x86_64": 450, "aarch64": 450},
    "mbind": {"x86_64": 237, "aarch64": 235},
    "migrate_pages": {"x86_64": 256, "aarch64": 238},
    "move_pages": {"x86_64": 279, "aarch64": 239},
    "init_module": {"x86_64": 175, "aarch64": 105},
    "finit_module": {"x86_64": 313, "aarch64": 273},
    "delete_module": {"x86_64": 176, "aarch64": 106},
    "kexec_load": {"x86_64": 246, "aarch64": 104},
    "kexec_file_load": {"x86_64": 320, "aarch64": 294},
    "reboot": {"x86_64": 169, "aarch64": 142},
    "swapon": {"x86_64": 167, "aarch64": 224},
    "swapoff": {"x86_64": 168, "aarch64": 225},
    "acct": {"x86_64": 163, "aarch64": 89},
    "quotactl": {"x86_64": 179, "aarch64": 60},
    "quotactl_fd": {"x86_64": 443, "aarch64": 443},
    "syslog": {"x86_64": 103, "aarch64": 116},
    "vhangup": {"x86_64": 153, "aarch64": 58},
    "settimeofday": {"x86_64": 164, "aarch64": 170},
    "clock_settime": {"x86_64": 227, "aarch64": 112},
    "iopl": {"x86_64": 172},
    "ioperm": {"x86_64": 173},
    "fanotify_init": {"x86_64": 300, "aarch64": 262},
    "lookup_dcookie": {"x86_64": 212, "aarch64": 18},
    "nfsservctl": {"x86_64": 180, "aarch64": 42},
    "sysfs": {"x86_64": 139},
    "ustat": {"x86_64": 136},
    "uselib": {"x86_64": 134},
    "sethostname": {"x86_64": 170, "aarch64": 161},
    "setdomainname": {"x86_64": 171, "aarch64": 162},
}
# What student code may not do besides.
REFUSED_TO_STUDENTS = {
    "unshare": {"x86_64": 272, "aarch64": 97},
    "setns": {"x86_64": 308, "aarch64": 268},
    "mount": {"x86_64": 165, "aarch64": 40},
    "umount2": {"x86_64": 166, "aarch64": 39},
    "pivot_root": {"x86_64": 155, "aarch64": 41},
    "chroot": {"x86_64": 161, "aarch64": 51},
    "open_tree": {"x86_64": 428, "aarch64": 428},
    "move_mount": {"x86_64": 429, "aarch64": 429},
    "fsopen": {"x86_64": 430, "aarch64": 430},
    "fsconfig": {"x86_64": 431, "aarch64": 431},
    "fsmount": {"x86_64": 432, "aarch64": 432},
    "fspick": {"x86_64": 433, "aarch64": 433},
    "mount_setattr": {"x86_64": 442, "aarch64": 442},
    "name_to_handle_at": {"x86_64": 303, "aarch64": 264},
    "open_by_handle_at": {"x86_64": 304, "aarch64": 265},
    "ptrace": {"x86_64": 101, "aarch64": 117},
    "process_vm_readv": {"x86_64": 310, "aarch64": 270},
    "process_vm_writev": {"x86_64": 311, "aarch64": 271},
    "process_madvise": {"x86_64": 440, "aarch64": 440},
    "pidfd_open": {"x86_64": 434, "aarch64": 434},
    "pidfd_getfd": {"x86_64": 438, "aarch64": 438},
    "kcmp": {"x86_64": 312, "aarch64": 272},
    "sched_setaffinity": {"x86_64": 203, "aarch64": 122},
}
SOCKETS = {"socket": {"x86_64": 41, "aarch64": 198}, "socketpair": {"x86_64": 53, "aarch64": 199}}
# Sockets may be of these families only: they stay within the sandbox's network. Vsock leaves it;
# alg and netlink talk to the kernel.
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
# calls from this number on are younger than these lists: here they do not exist, and libraries do
# without
NEWER = 451


def calls(machine: str) -> dict[str, int]:
    """Every call that is refused to student code on this kind of machine, whatever its arguments:
    {name: number}.
    """
    return {
        name: call[machine]
        for name, call in {**REFUSED, **REFUSED_TO_STUDENTS}.items()
        if machine in call
    }
