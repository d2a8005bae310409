"""Prints a box of n x n x n hexahedra as a mesh in Gmsh's format 2.2. usage: box.py N"""

import itertools
import sys

cells = int(sys.argv[1])
points = cells + 1


def node(x: int, y: int, z: int) -> int:
    """Returns the number of a point of the grid."""
    return 1 + x + points * (y + points * z)


print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes")
print(points**3)
for z, y, x in itertools.product(range(points), repeat=3):
    print(node(x, y, z), x / cells, y / cells, z / cells)
print("$EndNodes\n$Elements")
print(cells**3)
for number, (z, y, x) in enumerate(itertools.product(range(cells), repeat=3), 1):
    corners = [node(x + a, y + b, z + c) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    print(number, 5, 2, 1, 1, *corners)
print("$EndElements")
