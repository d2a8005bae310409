// Graph topologies, which every process knows as a whole.

#include <fmt/format.h>

#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/topologies/topology.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

std::vector<int> Graph::neighbors(int rank) const {
  const auto place = static_cast<std::size_t>(rank);
  const int begin = place == 0 ? 0 : index[place - 1];
  return {edges.begin() + begin, edges.begin() + index[place]};
}

int graph_create(MPI_Comm handle, int nodes, const int index[], const int edges[], int /*reorder*/,
                 MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_graph(nodes, index, edges, comm->size()));
  Graph graph;
  if (nodes != 0) graph = {.index = {index, index + nodes}, .edges = {edges, edges + index[nodes - 1]}};
  return make_with_topology(*comm, nodes, std::move(graph), made);
}

// The rank that graph_create() gives the process.
int graph_map(MPI_Comm handle, int nodes, const int index[], const int edges[], int* rank) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  RMA_TRY(check_graph(nodes, index, edges, comm->size()));
  *rank = comm->rank() < nodes ? comm->rank() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int graphdims_get(MPI_Comm handle, int* nodes, int* edges) {
  RMA_TRY_ASSIGN(graph, find_topology<Graph>(handle));
  *nodes = static_cast<int>(graph->index.size());
  *edges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}

int graph_get(MPI_Comm handle, int index_room, int edge_room, int index[], int edges[]) {
  RMA_TRY_ASSIGN(graph, find_topology<Graph>(handle));
  RMA_TRY(copy_out(graph->index, index_room, index));
  return copy_out(graph->edges, edge_room, edges);
}

namespace {

int find_neighbors(MPI_Comm handle, int rank, std::vector<int>& neighbors) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY_ASSIGN(graph, find_topology<Graph>(*comm));
  if (rank < 0 || rank >= comm->size())
    return failure(MPI_ERR_RANK,
                   fmt::format("rank {} is not in a graph of {} processes", rank, comm->size()));
  neighbors = graph->neighbors(rank);
  return MPI_SUCCESS;
}

}  // namespace

int graph_neighbors_count(MPI_Comm comm, int rank, int* count) {
  std::vector<int> neighbors;
  RMA_TRY(find_neighbors(comm, rank, neighbors));
  *count = static_cast<int>(neighbors.size());
  return MPI_SUCCESS;
}

int graph_neighbors(MPI_Comm comm, int rank, int room, int array[]) {
  std::vector<int> neighbors;
  RMA_TRY(find_neighbors(comm, rank, neighbors));
  return copy_out(neighbors, room, array);
}

}  // namespace librma::mpi
