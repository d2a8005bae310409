// Graph topologies and distributed graphs.

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

void graphs() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  // A ring of all processes but the last one, with a loop at node 0.
  const int nodes = std::max(size - 1, 1);
  std::vector<int> index;
  std::vector<int> edges;
  for (int node = 0; node < nodes; ++node) {
    edges.push_back((node + 1) % nodes);
    edges.push_back((node + nodes - 1) % nodes);
    if (node == 0) edges.push_back(0);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm graph = MPI_COMM_WORLD;
  int mapped = -1;
  SUCCEEDS(MPI_Graph_map(MPI_COMM_WORLD, nodes, index.data(), edges.data(), &mapped));
  CHECK(mapped == (rank < nodes ? rank : MPI_UNDEFINED));
  SUCCEEDS(MPI_Graph_create(MPI_COMM_WORLD, nodes, index.data(), edges.data(), 1, &graph));
  CHECK((graph == MPI_COMM_NULL) == (rank >= nodes));
  if (graph != MPI_COMM_NULL) {
    int kind = -1;
    int node_count = -1;
    int edge_count = -1;
    SUCCEEDS(MPI_Topo_test(graph, &kind));
    SUCCEEDS(MPI_Graphdims_get(graph, &node_count, &edge_count));
    CHECK(kind == MPI_GRAPH && node_count == nodes && edge_count == 2 * nodes + 1);
    std::vector<int> found_index(index.size());
    std::vector<int> found_edges(edges.size());
    SUCCEEDS(MPI_Graph_get(graph, node_count, edge_count, found_index.data(), found_edges.data()));
    CHECK(found_index == index && found_edges == edges);
    for (int node = 0; node < nodes; ++node) {
      int count = -1;
      std::array<int, 3> neighbors = {-1, -1, -1};
      SUCCEEDS(MPI_Graph_neighbors_count(graph, node, &count));
      SUCCEEDS(MPI_Graph_neighbors(graph, node, 3, neighbors.data()));
      CHECK(count == (node == 0 ? 3 : 2) && neighbors[0] == (node + 1) % nodes);
      CHECK(neighbors[1] == (node + nodes - 1) % nodes && neighbors[2] == (node == 0 ? 0 : -1));
    }
    CHECK(MPI_Graph_neighbors_count(graph, nodes, &mapped) == MPI_ERR_RANK);
    SUCCEEDS(MPI_Comm_free(&graph));
  }
  SUCCEEDS(MPI_Graph_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &graph));
  CHECK(graph == MPI_COMM_NULL);
  CHECK(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index.data(), edges.data(), 0, &graph) == MPI_ERR_ARG);
  edges[0] = nodes;
  CHECK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index.data(), edges.data(), 0, &graph) == MPI_ERR_ARG);
  index[0] = -1;
  CHECK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index.data(), edges.data(), 0, &graph) == MPI_ERR_ARG);
}

struct Edge {
  int source;
  int destination;
  int weight;
  friend bool operator<(const Edge& one, const Edge& other) {
    return std::array{one.source, one.destination, one.weight} <
           std::array{other.source, other.destination, other.weight};
  }
  friend bool operator==(const Edge& one, const Edge& other) { return !(one < other) && !(other < one); }
};

/// Returns the edges that begin and end at this process, sorted, as the communicator has them.
std::vector<Edge> edges_of(MPI_Comm graph, bool weighted) {
  int in = -1;
  int out = -1;
  int has_weights = -1;
  SUCCEEDS(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights));
  CHECK((has_weights != 0) == weighted);
  std::vector<int> sources(static_cast<std::size_t>(in));
  std::vector<int> destinations(static_cast<std::size_t>(out));
  std::vector<int> in_weights(sources.size());
  std::vector<int> out_weights(destinations.size());
  SUCCEEDS(MPI_Dist_graph_neighbors(graph, in, sources.data(), weighted ? in_weights.data() : MPI_UNWEIGHTED,
                                    out, destinations.data(),
                                    weighted ? out_weights.data() : MPI_UNWEIGHTED));
  std::vector<Edge> edges;
  const int rank = rank_in(graph);
  for (std::size_t i = 0; i < sources.size(); ++i) edges.push_back({sources[i], rank, in_weights[i]});
  for (std::size_t i = 0; i < destinations.size(); ++i)
    edges.push_back({rank, destinations[i], out_weights[i]});
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// Random edges, parallel ones and loops included, each named by a random process.
void distributed_graphs(std::mt19937& random) {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  std::uniform_int_distribution<int> any(0, size - 1);
  for (int turn = 0; turn < 8; ++turn) {
    const bool weighted = turn % 2 == 0;
    std::vector<Edge> expected;
    std::vector<int> sources;
    std::vector<int> degrees;
    std::vector<int> destinations;
    std::vector<int> weights;
    for (int i = 0; i < 5 * size; ++i) {
      const Edge edge = {any(random), any(random), weighted ? static_cast<int>(random() % 100) : 0};
      if (edge.source == rank) expected.push_back(edge);
      if (edge.destination == rank) expected.push_back(edge);
      if (any(random) != rank) continue;
      sources.push_back(edge.source);
      degrees.push_back(1);
      destinations.push_back(edge.destination);
      weights.push_back(edge.weight);
    }
    sources.push_back(0);  // a node without edges
    degrees.push_back(0);
    std::sort(expected.begin(), expected.end());
    MPI_Comm graph = MPI_COMM_NULL;
    SUCCEEDS(MPI_Dist_graph_create(
        MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), degrees.data(), destinations.data(),
        weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, turn % 2, &graph));
    CHECK(edges_of(graph, weighted) == expected);
    int kind = -1;
    SUCCEEDS(MPI_Topo_test(graph, &kind));
    CHECK(kind == MPI_DIST_GRAPH);

    // The same graph, of which each process names the edges that it knows.
    std::vector<int> from;
    std::vector<int> from_weights;
    std::vector<int> to;
    std::vector<int> to_weights;
    int in = -1;
    int out = -1;
    int has_weights = -1;
    SUCCEEDS(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights));
    from.resize(static_cast<std::size_t>(in));
    from_weights.resize(from.size());
    to.resize(static_cast<std::size_t>(out));
    to_weights.resize(to.size());
    SUCCEEDS(MPI_Dist_graph_neighbors(graph, in, from.data(), from_weights.data(), out, to.data(),
                                      to_weights.data()));
    SUCCEEDS(MPI_Comm_free(&graph));
    const auto weights_of = [&](std::vector<int>& all) {
      return !weighted ? MPI_UNWEIGHTED : all.empty() ? MPI_WEIGHTS_EMPTY : all.data();
    };
    SUCCEEDS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from.data(), weights_of(from_weights), out,
                                            to.data(), weights_of(to_weights), MPI_INFO_NULL, 0, &graph));
    CHECK(edges_of(graph, weighted) == expected);
    SUCCEEDS(MPI_Comm_free(&graph));
  }
  MPI_Comm graph = MPI_COMM_NULL;
  const int degree = 1;
  CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &size, &degree, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                              &graph) == MPI_ERR_ARG);
  CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &size, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                              &graph) == MPI_ERR_ARG);
  CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, nullptr, MPI_UNWEIGHTED, 0, nullptr,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) == MPI_ERR_ARG);
  CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &size, MPI_UNWEIGHTED, 0, nullptr, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph) == MPI_ERR_ARG);
  CHECK(graph == MPI_COMM_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::mt19937 random(mpi_test::test_seed());
  graphs();
  distributed_graphs(random);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
