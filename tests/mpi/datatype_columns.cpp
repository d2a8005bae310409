// Rank 0 sends columns and a triangle of a matrix to rank 1, by standard and synchronous sends. Rank 1
// receives some of them as messages that a probe has found. column_counts.py looks at the statistics: librma
// has moved all of them from layout to layout, and the MPI layer has packed none.
//
// usage: mpi-datatype-columns COLUMNS TRIANGLES

#include <cstdlib>
#include <vector>

#include "check.hpp"

namespace {

constexpr int kRows = 600;

double number(int row, int column) { return 1000.0 * row + column; }

std::vector<double> matrix(bool filled) {
  std::vector<double> all(kRows * kRows, -1);
  for (int row = 0; row < kRows && filled; ++row)
    for (int column = 0; column < kRows; ++column)
      all[static_cast<std::size_t>(row * kRows + column)] = number(row, column);
  return all;
}

/// Sends by one of three calls.
void send(const void* data, MPI_Datatype type, int kind) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (kind % 3 == 0) {
    SUCCEEDS(MPI_Send(data, 1, type, 1, 0, MPI_COMM_WORLD));
  } else if (kind % 3 == 1) {
    SUCCEEDS(MPI_Ssend(data, 1, type, 1, 0, MPI_COMM_WORLD));
  } else {
    SUCCEEDS(MPI_Issend(data, 1, type, 1, 0, MPI_COMM_WORLD, &request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

/// Receives by one of three calls.
void receive(void* data, MPI_Datatype type, int kind) {
  if (kind / 2 % 3 == 0) {
    SUCCEEDS(MPI_Recv(data, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return;
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  SUCCEEDS(MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
  if (kind / 2 % 3 == 1) {
    SUCCEEDS(MPI_Mrecv(data, 1, type, &message, MPI_STATUS_IGNORE));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Imrecv(data, 1, type, &message, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void columns(int rank, int count) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(kRows, 1, kRows, MPI_DOUBLE, &column));
  SUCCEEDS(MPI_Type_commit(&column));
  std::vector<double> all = matrix(rank == 0);
  for (int i = 0; i < count; ++i) {
    if (rank == 0) send(&all[static_cast<std::size_t>(i)], column, i);
    if (rank != 1) continue;
    // Into the mirrored place, so that no two columns are the same memory.
    double* const place = &all[static_cast<std::size_t>(kRows - 1 - i)];
    receive(place, column, i);
    CHECK(place[0] == number(0, i) && place[kRows * (kRows - 1)] == number(kRows - 1, i));
  }
  SUCCEEDS(MPI_Type_free(&column));
}

void triangles(int rank, int count) {
  MPI_Datatype triangle = MPI_DATATYPE_NULL;
  std::vector<int> lengths;
  std::vector<int> places;
  for (int row = 0; row < kRows; ++row) {
    lengths.push_back(kRows - row);
    places.push_back(row * kRows + row);
  }
  SUCCEEDS(MPI_Type_indexed(kRows, lengths.data(), places.data(), MPI_DOUBLE, &triangle));
  SUCCEEDS(MPI_Type_commit(&triangle));
  std::vector<double> all = matrix(rank == 0);
  for (int i = 0; i < count; ++i) {
    if (rank == 0) send(all.data(), triangle, i);
    if (rank == 1) receive(all.data(), triangle, i);
  }
  if (rank == 1 && count > 0) {
    CHECK(all[1] == number(0, 1) && all[kRows] == -1);
    CHECK(all[kRows * kRows - 1] == number(kRows - 1, kRows - 1));
  }
  SUCCEEDS(MPI_Type_free(&triangle));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int rank = mpi_test::rank_in(MPI_COMM_WORLD);
  columns(rank, std::atoi(argv[1]));
  triangles(rank, std::atoi(argv[2]));
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
