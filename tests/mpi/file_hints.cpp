// The hints of files: those that are in use, how they come, and whose they are.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_case.hpp"

namespace {

using namespace mpi_test;

constexpr int kReadWrite = MPI_MODE_CREATE | MPI_MODE_RDWR;

[[nodiscard]] std::string hint_of(MPI_File file, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_File_get_info(file, &info));
  std::array<char, MPI_MAX_INFO_VAL + 1> value = {};
  int flag = 0;
  SUCCEEDS(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &flag));
  SUCCEEDS(MPI_Info_free(&info));
  return flag != 0 ? value.data() : "none";
}

/// The hints in use are those that the library knows, with valid values.
void test_hints(const TestFile& path) {
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "cb_buffer_size", "12345"));
  SUCCEEDS(MPI_Info_set(info, "romio_ds_write", "disable"));
  SUCCEEDS(MPI_Info_set(info, "romio_cb_read", "sometimes"));
  SUCCEEDS(MPI_Info_set(info, "cb_nodes", "-3"));
  SUCCEEDS(MPI_Info_set(info, "striping_unit", "65536"));
  SUCCEEDS(MPI_Info_set(info, "nobody_knows_this", "1"));
  const OpenFile file(path, kReadWrite, info);
  CHECK(hint_of(file.get(), "cb_buffer_size") == "12345");
  CHECK(hint_of(file.get(), "romio_ds_write") == "disable");
  CHECK(hint_of(file.get(), "romio_cb_read") == "automatic");
  CHECK(hint_of(file.get(), "striping_unit") == "65536");
  CHECK(hint_of(file.get(), "nobody_knows_this") == "none");
  CHECK(std::stoi(hint_of(file.get(), "cb_nodes")) > 0);
  SUCCEEDS(MPI_Info_set(info, "romio_cb_read", "enable"));
  SUCCEEDS(MPI_File_set_info(file.get(), info));
  CHECK(hint_of(file.get(), "romio_cb_read") == "enable");
  SUCCEEDS(MPI_Info_set(info, "ind_rd_buffer_size", "777"));
  SUCCEEDS(MPI_File_set_view(file.get(), 0, MPI_BYTE, MPI_BYTE, "native", info));
  CHECK(hint_of(file.get(), "ind_rd_buffer_size") == "777");
  SUCCEEDS(MPI_Info_free(&info));
}

/// The hints of the file that ROMIO_HINTS names count more than the program's.
void test_hints_of_environment(const TestFile& path) {
  const TestFile hints("hints-file");
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::ofstream(hints.name())
        << "romio_cb_read enable\n# comment 3\n\nind_rd_buffer_size 49\n"
           "ind_rd_buffer_size 60\nromio_no_indep_rw true\ncb_buffer_size\ncb_nodes two\n";
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "romio_cb_read", "disable"));
  setenv("ROMIO_HINTS", hints.name().c_str(), 1);
  {
    const OpenFile file(path, kReadWrite, info);
    CHECK(hint_of(file.get(), "romio_cb_read") == "enable");
    CHECK(hint_of(file.get(), "ind_rd_buffer_size") == "49");
    CHECK(hint_of(file.get(), "romio_no_indep_rw") == "true");
  }
  setenv("ROMIO_HINTS", "/no/such/file", 1);
  {
    const OpenFile file(path, kReadWrite, info);
    CHECK(hint_of(file.get(), "romio_cb_read") == "disable");
    CHECK(hint_of(file.get(), "romio_no_indep_rw") == "false");
  }
  unsetenv("ROMIO_HINTS");
  SUCCEEDS(MPI_Info_free(&info));
}

/// Ranks with different hints divide the file as rank 0's say.
void test_hints_of_ranks(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  constexpr int kInts = 20000;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(kInts, 1, size, MPI_INT, &column));
  SUCCEEDS(MPI_Type_commit(&column));
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "romio_cb_write", "enable"));
  SUCCEEDS(MPI_Info_set(info, "romio_cb_read", "enable"));
  // How the hints come: with the opening, the view, or alone.
  for (int way = 0; way < 3; ++way) {
    SUCCEEDS(MPI_Info_set(info, "cb_nodes", rank == 0 ? "2" : "1"));
    SUCCEEDS(MPI_Info_set(info, "cb_buffer_size", rank == 0 ? "8192" : "4096"));
    SUCCEEDS(MPI_Info_set(info, "striping_unit", rank == 1 ? "1048576" : "512"));
    const OpenFile file(path, kReadWrite, way == 0 && rank != 2 ? info : MPI_INFO_NULL);
    SUCCEEDS(
        MPI_File_set_view(file.get(), 4 * rank, MPI_INT, column, "native", way == 1 ? info : MPI_INFO_NULL));
    if (way == 2) SUCCEEDS(MPI_File_set_info(file.get(), info));
    CHECK(hint_of(file.get(), "cb_nodes") == (size > 1 ? "2" : "1"));
    CHECK(hint_of(file.get(), "cb_buffer_size") == "8192");
    CHECK(hint_of(file.get(), "striping_unit") == "512");
    std::vector<int> data(kInts, rank + way);
    SUCCEEDS(MPI_File_write_all(file.get(), data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
    std::ranges::fill(data, -1);
    SUCCEEDS(MPI_File_read_at_all(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(std::ranges::all_of(data, [&](int one) { return one == rank + way; }));
  }
  SUCCEEDS(MPI_Info_free(&info));
  SUCCEEDS(MPI_Type_free(&column));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("file-hints");
    test_hints(path);
    test_hints_of_environment(path);
    test_hints_of_ranks(path);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
