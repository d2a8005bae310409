"""The installed programs that bench/installed.sh runs: how each is prepared and started, and which of its words count.

A program is run by Open MPI and by librma with the same input. It is right if it says so itself (`passed`), and if the
numbers that it prints (`numbers`) are the same on both.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable

INPUTS = pathlib.Path(__file__).parent / "inputs"

# One thread for each rank: libraries of linear algebra would otherwise start one for each processor. Debian's OpenFOAM
# looks for its own files in WM_PROJECT_DIR.
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                            "WM_PROJECT_DIR": "/usr/share/openfoam"}


class NotThere(Exception):
    """A program cannot be run here. The text says why."""


def nothing(folder: pathlib.Path, ranks: int) -> None:
    """The preparation of a program that needs no input."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One installed program, or a family of them that have one input.

    commands  its command lines, which are run one after the other by the launcher
    prepare   called with an empty folder and the number of ranks: puts the input there
    passed    the text that each command prints if its results are right by its own check
    failed    a text that no command prints then
    numbers   finds the numbers that must be the same on both, in its groups
    digits    to how many digits they must be: programs add numbers in the order in which messages come
    seconds   finds the time that the program itself has measured; otherwise the whole command is measured
    waits     the seconds that a command lets pass by the clock if it prints a text, for each of such texts. They do not
              count in its time
    aborts    whether each command ends by MPI_Abort, as a test of it
    results   the files, beside its output, in which `passed` and `numbers` are looked for
    """

    name: str
    commands: list[list[str]]
    prepare: Callable[[pathlib.Path, int], None] = nothing
    passed: str = ""
    failed: str = ""
    numbers: str = ""
    digits: int = 9
    seconds: str = ""
    results: tuple[str, ...] = ()
    waits: dict[str, float] = dataclasses.field(default_factory=dict)
    aborts: bool = False
    ranks: tuple[int, ...] = (2, 4)


def run(folder: pathlib.Path, *command: str) -> None:
    """Runs a command that prepares an input. If it fails, the input cannot be made."""
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise NotThere(f"{command[0]} failed: {done.stdout.strip().splitlines()[-1:]}")


def given(*names: str) -> Callable[[pathlib.Path, int], None]:
    """Returns a preparation that copies input files of ours, with the number of ranks in place of the word RANKS."""

    def prepare(folder: pathlib.Path, ranks: int) -> None:
        for name in names:
            (folder / name).write_text((INPUTS / name).read_text().replace("RANKS", str(ranks)))

    return prepare


def melt(folder: pathlib.Path, ranks: int) -> None:
    """LAMMPS's own example, with 27 times the atoms."""
    example = pathlib.Path("/usr/share/lammps/examples/melt/in.melt").read_text()
    (folder / "in.melt").write_text(example.replace("0 10 0 10 0 10", "0 30 0 30 0 30"))


def water(folder: pathlib.Path, ranks: int) -> None:
    """A box of water for GROMACS, relaxed by its own tools on one processor."""
    given("topol.top", "em.mdp", "md.mdp")(folder, ranks)
    gmx = ("gmx", "-quiet")
    run(folder, *gmx, "solvate", "-cs", "spc216.gro", "-box", "4", "4", "4", "-o", "box.gro", "-p", "topol.top")
    run(folder, *gmx, "grompp", "-f", "em.mdp", "-c", "box.gro", "-p", "topol.top", "-o", "em.tpr")
    run(folder, *gmx, "mdrun", "-ntmpi", "1", "-ntomp", "1", "-s", "em.tpr", "-c", "relaxed.gro")
    run(folder, *gmx, "grompp", "-f", "md.mdp", "-c", "relaxed.gro", "-p", "topol.top", "-o", "md.tpr")


def silicon(folder: pathlib.Path, ranks: int) -> None:
    given("silicon.in")(folder, ranks)
    packed = "/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz"
    shutil.copy(packed, folder)
    run(folder, "gunzip", "Si.pz-vbc.UPF.gz")


def cavity(folder: pathlib.Path, ranks: int) -> None:
    """OpenFOAM's tutorial, with 25 times the cells."""
    source = "/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    run(folder, "find", ".", "-name", "*.gz", "-exec", "gunzip", "{}", "+")
    given("decomposeParDict")(folder, ranks)
    (folder / "decomposeParDict").rename(folder / "system/decomposeParDict")
    mesh = folder / "system/blockMeshDict"
    mesh.write_text(mesh.read_text().replace("(20 20 1)", "(100 100 1)"))
    control = folder / "system/controlDict"
    control.write_text(re.sub(r"deltaT .*", "deltaT 0.001;",
                              re.sub(r"endTime .*", "endTime 0.1;", control.read_text())))
    # Solved exactly, so that the order of sums does not show in the results.
    solution = folder / "system/fvSolution"
    solution.write_text(re.sub(r"relTol .*", "relTol 0;",
                               re.sub(r"tolerance .*", "tolerance 1e-11;", solution.read_text())))
    run(folder, "blockMesh")
    run(folder, "decomposePar")


SATURNE = pathlib.Path("/usr/lib/code_saturne")


def box(folder: pathlib.Path, ranks: int) -> None:
    """A mesh for code_saturne, translated by its own tool."""
    mesh = subprocess.run(["python3", INPUTS / "box.py", "40"], check=True, capture_output=True, text=True)
    (folder / "box.msh").write_text(mesh.stdout)
    run(folder, str(SATURNE / "cs_preprocess"), "box.msh")


PETSC = pathlib.Path("/usr/share/petsc/3.18/share/petsc/examples/src")


def petsc(folder: pathlib.Path, ranks: int) -> None:
    for source in ("snes/tutorials/ex19.c", "ksp/ksp/tutorials/ex2.c"):
        run(folder, "mpicc.openmpi", "-O2", str(PETSC / source), "-o", pathlib.Path(source).stem,
            "-I/usr/include/petsc", "-lpetsc_real", "-lm")


def netcdf(folder: pathlib.Path, ranks: int) -> None:
    run(folder, "mpicc.openmpi", "-O2", str(INPUTS / "netcdf.c"), "-o", "parallel",
        "-I/usr/lib/x86_64-linux-gnu/netcdf/mpi/include", "-lnetcdf_mpi")


def p4est(folder: pathlib.Path, ranks: int) -> None:
    """The tests of p4est's source package, each compiled with the installed library."""
    sources, lists = folder / "sources.list", folder / "lists"
    sources.write_text("deb-src http://deb.debian.org/debian bookworm main\n")
    lists.mkdir()
    apt = ("apt-get", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={lists}")
    run(folder, *apt, "update")
    run(folder, *apt, "source", "p4est")
    (tests,) = folder.glob("p4est-*/test")
    for name in P4EST:
        run(folder, "mpicc.openmpi", "-O2", str(tests / f"{name}.c"), "-o", name, "-lp4est", "-lsc")


P4EST = ("test_balance2", "test_balance3", "test_ghost2", "test_ghost3", "test_iterate3", "test_lnodes3",
         "test_loadsave2", "test_loadsave3", "test_partition2", "test_partition3", "test_search3", "test_subcomm3")

SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests")


def scalapack_data(folder: pathlib.Path, ranks: int) -> None:
    shutil.copytree("/usr/share/scalapack", folder, dirs_exist_ok=True)


def testers(pattern: str) -> list[list[str]]:
    return [[str(tester)] for tester in sorted(SCALAPACK.glob(pattern)) if tester.is_file()]


def blacs_data(folder: pathlib.Path, ranks: int) -> None:
    shutil.copytree("/usr/share/scalapack/BLACS", folder, dirs_exist_ok=True)


NUMBER = r"([-+]?\d+\.?\d*(?:[eED][-+]?\d+)?)"

PROGRAMS = [
    Program("netpipe", [["NPopenmpi", "-i", "-u", "65536"]], passed="Integrity check passed", ranks=(2,)),
    Program("hpcc", [["hpcc"]], given("hpccinf.txt"), passed="Success=1", failed="FAILED",
            results=("hpccoutf.txt",)),
    Program("blacs", [[str(SCALAPACK / "xCbtest")], [str(SCALAPACK / "xFbtest")]], blacs_data,
            passed="final auxiliary test is for BLACS_ABORT", failed="[1-9][0-9]* FAILED", aborts=True, ranks=(4,),
            # Each of three ranks comes 2 s late to a sum, to see whether the sum then has other bits. If it has, they do
            # so again with sums in a fixed order.
            waits={"SKIPPED REPEATABLE SUM TEST": 6.0, "PASSED  REPEATABLE SUM TEST": 12.0}),
    Program("scalapack", testers("x[sdcz]*"), scalapack_data, passed="(?i)end of tests|PASSED",
            failed="[1-9][0-9]* tests completed and failed", numbers=r"(\d+) tests completed and (?:passed|failed)",
            ranks=(4,)),
    Program("mpi4py", [["/usr/bin/python3", "-m", "mpi4py.bench", "helloworld"]], passed="I am process"),
    Program("lammps", [["lmp", "-in", "in.melt"]], melt, passed="Total wall time",
            numbers=rf"(?m)^ +250 +{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER}", digits=6,
            seconds=rf"Loop time of {NUMBER}"),
    Program("gromacs", [["gmx_mpi", "-quiet", "mdrun", "-s", "md.tpr", "-reprod", "-ntomp", "1"]], water,
            passed="Performance:", numbers=rf"Total Energy[^\n]*\n +{NUMBER} +{NUMBER}", digits=5,
            seconds=rf"Time: +[\d.]+ +{NUMBER}", results=("md.log",)),
    Program("nwchem", [["nwchem.openmpi", "h2o.nw"]], given("h2o.nw"), passed="Optimization converged",
            numbers=rf"Total DFT energy = +{NUMBER}", seconds=r"Total times .*wall: +([\d.]+)s"),
    Program("quantum-espresso", [["pw.x", "-in", "silicon.in"]], silicon, passed="JOB DONE",
            numbers=rf"! +total energy += +{NUMBER}", digits=8),
    Program("cp2k", [["cp2k.psmp", "-i", "water.inp"]], given("water.inp"), passed="PROGRAM ENDED",
            numbers=rf"ENERGY\| Total FORCE_EVAL[^:]*: +{NUMBER}", digits=8),
    Program("petsc", [["./ex19", "-da_refine", "5", "-snes_monitor_short", "-pc_type", "mg"],
                      ["./ex2", "-m", "400", "-n", "400", "-ksp_converged_reason"]], petsc,
            passed="Number of SNES iterations|CONVERGED", numbers=rf"(?:norm|error|iterations) {NUMBER}", digits=4),
    Program("openfoam", [["icoFoam", "-parallel"]], cavity, passed="Finalising parallel run",
            numbers=rf"Solving for Ux, Initial residual = {NUMBER}", digits=4),
    Program("h5py", [["/usr/bin/python3", str(INPUTS / "h5.py")]], passed="^0 numbers are wrong"),
    Program("netcdf", [["./parallel"]], netcdf, passed="^0 numbers are wrong"),
    Program("code-saturne", [[str(SATURNE / "cs_solver"), "--quality"]], box,
            passed="End of coherency check of the mesh structure", failed="rror:",
            numbers=rf"(?:Minimum|Maximum) control volume += +{NUMBER}", results=("run_solver.log",)),
    Program("p4est", [[f"./{name}"] for name in P4EST], p4est, failed="Abort|abort|ERROR"),
]
