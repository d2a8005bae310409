"""Emulates hosts on this machine: network namespaces on a bridge, each with a name of its own.

A process that a host's remote shell starts is no descendant of the shell, as with ssh: a server in this process starts it
in the host's namespaces. The agent, which is the shell's client, is a program for rmarun --agent.
"""

import array
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

from harness import HANG_GUARD, RMARUN, SKIPPED, kill_all, until

CLIENT = """#!/usr/bin/python3 -SE
import array, json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sshd"))
server.sendmsg([json.dumps(sys.argv[1:]).encode() + b"\\n"],
               [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
answer = server.makefile().readline()
sys.exit(int(answer or 255))
"""


class Network:
    """Hosts in a directory of the test's, from which the agent `agent` reaches them by their names or addresses. With the host
    `head`, on which rmarun runs. The addresses are of IPv4, or of IPv6 alone."""

    def __init__(self, directory, *names, ipv6=False):
        addresses = "fd99::1:{}/64" if ipv6 else "10.99.1.{}/16"
        at_once = ["nodad"] if ipv6 else []  # usable without a test whether another host has the address
        self.directory = pathlib.Path(directory)
        self.prefix = f"rma-{os.getpid()}-"
        self.names = ("head", *names)
        self.setup = {}  # by host: commands of the shell that change its file systems, which are its own
        self.noise = {}  # by host: what its shell says before each command
        # By host: what its remote shell does instead of its work. (code, text): it fails; None: it asks for a password.
        # A list has one for each call, until it is empty.
        self.refusals = {}
        self.calls = []  # the host of each call of a remote shell, as the call names it
        self.options = {}  # by host: the options of the last call of its remote shell
        self.addressed = {}  # by address: the host
        self.agent = str(self.directory / "agent")
        try:
            self._ip("netns", "add", self.prefix + "head")
        except (OSError, subprocess.CalledProcessError) as error:
            print("skipped: network namespaces are not permitted here:", getattr(error, "stderr", error), flush=True)
            sys.exit(SKIPPED)
        self._ip("-n", self.prefix + "head", "link", "add", "name", "lan0", "type", "bridge")
        self._ip("-n", self.prefix + "head", "addr", "add", "fd99::1/64" if ipv6 else "10.99.0.1/16", "dev", "lan0",
                 *at_once)
        for link in ("lan0", "lo"):
            self._ip("-n", self.prefix + "head", "link", "set", link, "up")
        for number, name in enumerate(names):
            host = self.prefix + name
            self._ip("netns", "add", host)
            self._ip("link", "add", "name", f"v{number}", "netns", self.prefix + "head", "type", "veth", "peer", "name", "eth0",
                     "netns", host)
            self._ip("-n", self.prefix + "head", "link", "set", f"v{number}", "master", "lan0", "up")
            address = addresses.format(number + 1)
            self.addressed[address.partition("/")[0]] = name
            self._ip("-n", host, "addr", "add", address, "dev", "eth0", *at_once)
            for link in ("eth0", "lo"):
                self._ip("-n", host, "link", "set", link, "up")
        (self.directory / "agent").write_text(CLIENT)
        os.chmod(self.agent, 0o700)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.directory / "sshd"))
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in self.names:
            kill_all(self.processes(name))
            self._ip("netns", "del", self.prefix + name)
        self._server.close()
        for name in ("agent", "sshd"):
            (self.directory / name).unlink()

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def inside(self, name, *command):
        """The words that run a command on a host."""
        setup = " && ".join([f"hostname {name}", *self.setup.get(name, [])])
        return ["nsenter", f"--net=/run/netns/{self.prefix}{name}", "unshare", "--uts", "--mount", "--propagation", "slave", "sh",
                "-c", f'{setup} && exec "$@"', "sh", *command]

    def _serve(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._session, args=(connection,), daemon=True).start()

    def _session(self, connection):
        request, fields, _, _ = connection.recvmsg(1 << 20, 4096)
        if not fields:
            return  # the client was killed before it said anything
        files = array.array("i")
        files.frombytes(fields[0][2])
        words = json.loads(request)
        options = []
        while words[0].startswith("-"):
            options.append(words.pop(0))
            if options[-1] in ("-l", "-p"):
                options.append(words.pop(0))
        host, command = words[0], " ".join(words[1:])
        self.calls.append(host)
        self.options[host] = options
        host = self.addressed.get(host, host)
        code, refusal = 255, self.refusals.get(host, ())
        if isinstance(refusal, list):
            refusal = refusal.pop(0) if refusal else ()
        if refusal is None:
            os.write(files[2], f"root@{host}'s password: ".encode())
            connection.recv(1)  # until the client goes away
        elif refusal:
            code, text = refusal
            os.write(files[2], text.encode())
        elif host not in self.names:
            os.write(files[2], f"ssh: Could not resolve hostname {host}: Name or service not known\n".encode())
        else:
            shell = f"{self.noise.get(host, ':')}; {command}"
            session = subprocess.Popen(self.inside(host, "sh", "-c", shell), stdin=files[0], stdout=files[1], stderr=files[2],
                                       env={"PATH": os.environ["PATH"], "HOME": "/root"}, start_new_session=True)
            code = session.wait()
        for file in files:
            os.close(file)
        try:
            connection.sendall(f"{code}\n".encode())
        except OSError:
            pass  # the client has been killed
        connection.close()

    def start(self, *arguments, **options):
        """rmarun on the head, with the agent."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.inside("head", os.path.abspath(RMARUN), "--agent", self.agent, *arguments), **{"text": True, **pipes, **options})

    def run(self, *arguments, stdin=""):
        """Runs it to its end: exit code, stdout, stderr."""
        job = self.start(*arguments)
        out, err = job.communicate(stdin, timeout=HANG_GUARD)
        return job.returncode, out, err

    def link(self, name, state):
        self._ip("-n", self.prefix + "head", "link", "set", f"v{self.names.index(name) - 1}", state)

    @staticmethod
    def connected(pid):
        """Whether a process has a TCP connection to another host."""
        try:
            files = {os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}
            with open(f"/proc/{pid}/net/tcp", encoding="ascii") as table:
                lines = [line.split() for line in table.read().splitlines()[1:]]
        except OSError:
            return False
        loopback, established = "0100007F", "01"
        return any(line[3] == established and f"socket:[{line[9]}]" in files and not line[2].startswith(loopback) for line in lines)

    def processes(self, name, program=None):
        """The processes of a host that live, or those of a program (its name of at most 15 characters)."""
        namespace = os.stat(f"/run/netns/{self.prefix}{name}").st_ino
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{entry}/ns/net").st_ino != namespace:
                    continue
                with open(f"/proc/{entry}/stat", encoding="latin-1") as stat:
                    head, _, rest = stat.read().rpartition(")")
            except OSError:
                continue
            if rest.split()[0] != "Z" and program in (None, head.partition("(")[2]):
                found.append(int(entry))
        return found

    def none_left(self, within=HANG_GUARD):
        """Waits until no process is left on any host. Returns the seconds."""
        start = time.monotonic()
        until(lambda: not any(self.processes(name) for name in self.names), "no process is left on any host")
        seconds = time.monotonic() - start
        assert seconds < within, f"processes were left for {seconds:.1f} s"
        return seconds
