/* The constants of mpi.h that are addresses, each where the standard takes it. This file is only compiled. */

#include <mpi.h>
#include <stddef.h>

int with_graphs(MPI_Comm* made);
int with_buffers(int* data);
int with_statuses(MPI_Request* requests);
int with_processes(MPI_Comm* made);
int with_keyvals(int* keys);

int with_graphs(MPI_Comm* made) {
  int neighbors[2] = {0, 1}, weights[2] = {1, 2}, degrees[2] = {1, 1};
  int code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
  code += MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 2, neighbors, weights,
                                         MPI_INFO_NULL, 0, made);
  code += MPI_Dist_graph_create(MPI_COMM_WORLD, 2, neighbors, degrees, neighbors, MPI_UNWEIGHTED,
                                MPI_INFO_NULL, 0, made);
  code +=
      MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, made);
  code += MPI_Dist_graph_neighbors(*made, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED);
  code += MPI_Dist_graph_neighbors(*made, 0, NULL, MPI_WEIGHTS_EMPTY, 2, neighbors, weights);
  return code + PMPI_Dist_graph_neighbors(*made, 2, neighbors, MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED);
}

int with_buffers(int* data) {
  int counts[1] = {1}, displacements[1] = {0};
  MPI_Datatype types[1] = {MPI_INT};
  int code = MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  code +=
      MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displacements, MPI_INT, 0, MPI_COMM_SELF);
  code += MPI_Scatterv(data, counts, displacements, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0,
                       MPI_COMM_SELF);
  code += MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, displacements, MPI_INT,
                        MPI_COMM_SELF);
  code += MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, displacements, types, MPI_COMM_SELF);
  code += MPI_Send(MPI_BOTTOM, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  code += MPI_Recv(MPI_BOTTOM, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return code + MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
}

int with_statuses(MPI_Request* requests) {
  int count = 0, indices[2];
  int code = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  code += MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  code += MPI_Testall(0, NULL, &count, MPI_STATUSES_IGNORE);
  code += MPI_Waitany(0, NULL, &count, MPI_STATUS_IGNORE);
  return code + MPI_Group_range_incl(MPI_GROUP_EMPTY, 0, NULL, NULL);
}

int with_processes(MPI_Comm* made) {
  char command[] = "none";
  char* commands[1];
  const int counts[1] = {1};
  const MPI_Info infos[1] = {MPI_INFO_NULL};
  int code = 0;
  commands[0] = command;
  code +=
      MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, made, MPI_ERRCODES_IGNORE);
  return code + MPI_Comm_spawn_multiple(1, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_SELF, made,
                                        MPI_ERRCODES_IGNORE);
}

int with_keyvals(int* keys) {
  int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[0], NULL);
  code += MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keys[1], NULL);
  return code + MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &keys[2], NULL);
}
