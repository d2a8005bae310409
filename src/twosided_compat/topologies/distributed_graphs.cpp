// Distributed graph topologies: each process knows the edges that begin or end at itself.

#include <fmt/format.h>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/topologies/topology.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// An edge as one process tells it to another.
struct Edge {
  int source = 0;
  int destination = 0;
  int weight = 0;
};
constexpr int kEdgeInts = 3;
static_assert(sizeof(Edge) == kEdgeInts * sizeof(int));

int check_nodes(std::span<const int> nodes, int size) {
  for (const int node : nodes) {
    if (node < 0 || node >= size)
      return failure(MPI_ERR_ARG, fmt::format("an edge ends at rank {} of {}", node, size));
  }
  return MPI_SUCCESS;
}

/// Finds the list of the neighbours in one direction, and their weights unless the graph has none.
int find_neighbors_of(int degree, const int* nodes, const int* weights, int size, std::vector<int>& neighbors,
                      std::vector<int>& kept) {
  if (degree < 0) return failure(MPI_ERR_ARG, fmt::format("a degree is {}", degree));
  if (degree != 0 && (nodes == nullptr || weights == nullptr || weights == MPI_WEIGHTS_EMPTY))
    return failure(MPI_ERR_ARG, "a list of neighbours or weights is null");
  const auto count = static_cast<std::size_t>(degree);
  RMA_TRY(check_nodes({nodes, count}, size));
  neighbors.assign(nodes, nodes + count);
  if (weights != MPI_UNWEIGHTED && degree != 0) kept.assign(weights, weights + count);
  return MPI_SUCCESS;
}

/// Collects the edges that a process gives to MPI_Dist_graph_create, for both ends of each: `to[r]` are those
/// of which rank r has to know.
int collect_edges(int n, const int* sources, const int* degrees, const int* destinations, const int* weights,
                  std::vector<std::vector<Edge>>& to) {
  const auto size = static_cast<int>(to.size());
  if (n < 0) return failure(MPI_ERR_ARG, fmt::format("n is {}", n));
  if (n != 0 && (sources == nullptr || degrees == nullptr))
    return failure(MPI_ERR_ARG, "sources or degrees is null");
  const auto count = static_cast<std::size_t>(n);
  RMA_TRY(check_nodes({sources, count}, size));
  std::size_t edge = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return failure(MPI_ERR_ARG, fmt::format("degree {} is {}", i, degrees[i]));
    for (int j = 0; j < degrees[i]; ++j, ++edge) {
      if (destinations == nullptr || weights == nullptr || weights == MPI_WEIGHTS_EMPTY)
        return failure(MPI_ERR_ARG, "destinations or weights is null");
      RMA_TRY(check_nodes({destinations + edge, 1}, size));
      const Edge this_edge = {.source = sources[i],
                              .destination = destinations[edge],
                              .weight = weights != MPI_UNWEIGHTED ? weights[edge] : 0};
      to[static_cast<std::size_t>(this_edge.source)].push_back(this_edge);
      if (this_edge.destination != this_edge.source)
        to[static_cast<std::size_t>(this_edge.destination)].push_back(this_edge);
    }
  }
  return MPI_SUCCESS;
}

/// Gives each process the edges that begin or end at it, in the order of the processes that named them. So
/// parallel edges have the same order at both ends.
int exchange_edges(MPI_Comm comm, const std::vector<std::vector<Edge>>& to, std::vector<Edge>& own) {
  const std::size_t size = to.size();
  std::vector<int> out_counts(size);
  std::vector<int> in_counts(size);
  std::vector<int> out_places(size);
  std::vector<int> in_places(size);
  std::vector<Edge> out;
  for (std::size_t rank = 0; rank < size; ++rank) {
    out_counts[rank] = kEdgeInts * static_cast<int>(to[rank].size());
    out.insert(out.end(), to[rank].begin(), to[rank].end());
  }
  RMA_TRY(alltoall(out_counts.data(), 1, MPI_INT, in_counts.data(), 1, MPI_INT, comm));
  std::exclusive_scan(out_counts.begin(), out_counts.end(), out_places.begin(), 0);
  std::exclusive_scan(in_counts.begin(), in_counts.end(), in_places.begin(), 0);
  own.resize(static_cast<std::size_t>((in_places.back() + in_counts.back()) / kEdgeInts));
  return alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_INT, own.data(), in_counts.data(),
                   in_places.data(), MPI_INT, comm);
}

}  // namespace

int dist_graph_create_adjacent(MPI_Comm handle, int indegree, const int sources[], const int source_weights[],
                               int outdegree, const int destinations[], const int destination_weights[],
                               MPI_Info info, int /*reorder*/, MPI_Comm* made) {
  DistributedGraph graph;
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_hints(info));
  RMA_TRY(find_neighbors_of(indegree, sources, source_weights, comm->size(), graph.sources,
                            graph.source_weights));
  RMA_TRY(find_neighbors_of(outdegree, destinations, destination_weights, comm->size(), graph.destinations,
                            graph.destination_weights));
  if ((source_weights == MPI_UNWEIGHTED) != (destination_weights == MPI_UNWEIGHTED))
    return failure(MPI_ERR_ARG, "one of the two lists of weights is MPI_UNWEIGHTED");
  graph.weighted = source_weights != MPI_UNWEIGHTED;
  return make_with_topology(*comm, comm->size(), std::move(graph), made);
}

int dist_graph_create(MPI_Comm handle, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int /*reorder*/,
                      MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_hints(info));
  std::vector<std::vector<Edge>> to(static_cast<std::size_t>(comm->size()));
  std::vector<Edge> edges;
  RMA_TRY(collect_edges(n, sources, degrees, destinations, weights, to));
  RMA_TRY(exchange_edges(handle, to, edges));
  DistributedGraph graph;
  graph.weighted = weights != MPI_UNWEIGHTED;
  for (const Edge& edge : edges) {
    if (edge.destination == comm->rank()) {
      graph.sources.push_back(edge.source);
      if (graph.weighted) graph.source_weights.push_back(edge.weight);
    }
    if (edge.source == comm->rank()) {
      graph.destinations.push_back(edge.destination);
      if (graph.weighted) graph.destination_weights.push_back(edge.weight);
    }
  }
  return make_with_topology(*comm, comm->size(), std::move(graph), made);
}

int dist_graph_neighbors_count(MPI_Comm handle, int* indegree, int* outdegree, int* weighted) {
  RMA_TRY_ASSIGN(graph, find_topology<DistributedGraph>(handle));
  *indegree = static_cast<int>(graph->sources.size());
  *outdegree = static_cast<int>(graph->destinations.size());
  *weighted = graph->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int dist_graph_neighbors(MPI_Comm handle, int in_room, int sources[], int source_weights[], int out_room,
                         int destinations[], int destination_weights[]) {
  RMA_TRY_ASSIGN(graph, find_topology<DistributedGraph>(handle));
  RMA_TRY(copy_out(graph->sources, in_room, sources));
  RMA_TRY(copy_out(graph->destinations, out_room, destinations));
  // A program that wants no weights passes MPI_UNWEIGHTED. A graph without weights changes no array.
  if (source_weights != MPI_UNWEIGHTED) {
    RMA_TRY(copy_out(graph->source_weights, in_room, source_weights));
  }
  if (destination_weights == MPI_UNWEIGHTED) return MPI_SUCCESS;
  return copy_out(graph->destination_weights, out_room, destination_weights);
}

}  // namespace librma::mpi
