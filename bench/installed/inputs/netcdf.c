// Writes and reads a netCDF file from all ranks, once each by itself and once together, and checks each
// number.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 64, kColumns = 1 << 14 };

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "netcdf: %s\n", nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double number(size_t row, size_t column) { return (double)row * kColumns + (double)column; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static double values[kColumns];
  int file = 0;
  int dimensions[2];
  int variables[2];
  check(nc_create_par("data.nc", NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  check(nc_def_dim(file, "row", kRows, &dimensions[0]));
  check(nc_def_dim(file, "column", kColumns, &dimensions[1]));
  check(nc_def_var(file, "alone", NC_DOUBLE, 2, dimensions, &variables[0]));
  check(nc_def_var(file, "together", NC_DOUBLE, 2, dimensions, &variables[1]));
  check(nc_enddef(file));
  check(nc_var_par_access(file, variables[1], NC_COLLECTIVE));
  for (int variable = 0; variable < 2; ++variable) {
    for (size_t row = (size_t)rank; row < kRows; row += (size_t)size) {
      const size_t start[2] = {row, 0};
      const size_t count[2] = {1, kColumns};
      for (size_t column = 0; column < kColumns; ++column) values[column] = number(row, column) + variable;
      check(nc_put_vara_double(file, variables[variable], start, count, values));
    }
  }
  check(nc_close(file));
  int wrong = 0;
  check(nc_open_par("data.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  for (int variable = 0; variable < 2; ++variable) {
    for (size_t row = 0; row < kRows; ++row) {
      const size_t start[2] = {row, 0};
      const size_t count[2] = {1, kColumns};
      check(nc_get_vara_double(file, variables[variable], start, count, values));
      for (size_t column = 0; column < kColumns; ++column) {
        wrong += values[column] != number(row, column) + variable;
      }
    }
  }
  check(nc_close(file));
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d numbers are wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
