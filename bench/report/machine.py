#!/usr/bin/env python3
"""Prints this machine and the versions of what is measured on it, one `name: value` a line. compare.sh,
figures.sh and the like keep that beside their results.

usage: machine.py
"""

import functools
import os
import pathlib
import platform
import subprocess
import time

# Debian's packages of the libraries that librma is compared with, and of the tools.
PACKAGES = ("openmpi-bin", "mpich", "libarmci-mpi-dev", "perftest", "g++", "qemu-system-x86")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def output(*command):
    """Returns what a command prints; an empty text if it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_of(file, name):
    """Returns the value of the first line `name : value` of a file of /proc."""
    for line in pathlib.Path(file).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return ""


@functools.cache
def describe():
    commit = output("git", "log", "-1", "--format=%h of %cs")
    if commit and output("git", "status", "--porcelain", "--untracked-files=no"):
        commit += ", with changes"
    memory = first_of("/proc/meminfo", "MemTotal").removesuffix(" kB")
    system = first_of("/etc/os-release", "PRETTY_NAME") or output("sed", "-n", "s/^PRETTY_NAME=//p", "/etc/os-release")
    found = {
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "librma": commit,
        "processor": first_of("/proc/cpuinfo", "model name"),
        "processors": str(len(os.sched_getaffinity(0))),
        "memory": f"{int(memory) / (1 << 20):.1f} GiB" if memory else "",
        "system": system.strip('"'),
        "kernel": platform.release(),
        "virtual machine": output("systemd-detect-virt", "--vm"),
    }
    for package in PACKAGES:
        found[package] = output("dpkg-query", "-W", "-f", "${Version}", package)
    return {name: value for name, value in found.items() if value}


if __name__ == "__main__":
    print("\n".join(f"{name}: {value}" for name, value in describe().items()))
