// The bandwidth of MPI files: writes and reads of contiguous data, of interleaved pieces, and of the blocks
// of a distributed array. Any MPI compiles it. kUsage says how it is called and what it prints.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr const char* kUsage =
    "usage: file-bench FILE [REPETITIONS]\n"
    "Measures the bandwidth of MPI files on the ranks that a launcher starts, for example: rmarun -n 4\n"
    "file-bench /tmp/data. It makes FILE, and removes it at the end. It prints a line for each pattern: its\n"
    "name, and the megabytes per second of all ranks together that were written and read, as the medians of\n"
    "the repetitions (7 by default). Data are in the system's cache unless FILE's folder has none.\n";

/// How the ranks share a file: each repeats a piece, and the pieces of the ranks follow each other.
struct Pattern {
  std::string name;
  MPI_Datatype filetype;  ///< of this rank, or MPI_BYTE
  MPI_Offset displacement;
  MPI_Offset bytes;  ///< of this rank
  MPI_Offset call_bytes;
  bool is_collective;
};

struct Bandwidth {
  double written = 0;
  double read = 0;
};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Ends the job if a call has failed.
void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "file-bench: %s failed with code %d\n", what, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

using Transfer = int (*)(MPI_File, void*, int, MPI_Datatype, MPI_Status*);

int write_alone(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  return MPI_File_write(file, data, count, type, status);
}
int write_together(MPI_File file, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  return MPI_File_write_all(file, data, count, type, status);
}

/// Returns the megabytes per second of all ranks when each moves the pattern's bytes.
double measure(MPI_File file, const Pattern& pattern, std::vector<char>& memory, Transfer transfer) {
  must(MPI_File_seek(file, 0, MPI_SEEK_SET), "MPI_File_seek");
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (MPI_Offset done = 0; done < pattern.bytes; done += pattern.call_bytes) {
    MPI_Status status;
    must(transfer(file, memory.data() + done, static_cast<int>(pattern.call_bytes), MPI_BYTE, &status),
         "a transfer");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  return static_cast<double>(pattern.bytes) * size_of_world() / seconds / 1e6;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Bandwidth run(const char* name, const Pattern& pattern, int repetitions) {
  std::vector<char> memory(static_cast<std::size_t>(pattern.bytes), static_cast<char>('a' + rank_of_world()));
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file),
       "MPI_File_open");
  must(MPI_File_set_view(file, pattern.displacement, MPI_BYTE, pattern.filetype, "native", MPI_INFO_NULL),
       "MPI_File_set_view");
  std::vector<double> written;
  std::vector<double> read;
  for (int i = 0; i <= repetitions; ++i) {
    const double one_written =
        measure(file, pattern, memory, pattern.is_collective ? write_together : write_alone);
    const double one_read =
        measure(file, pattern, memory, pattern.is_collective ? MPI_File_read_all : MPI_File_read);
    if (i == 0) continue;  // the system finds memory for the file
    written.push_back(one_written);
    read.push_back(one_read);
  }
  if (memory[0] != static_cast<char>('a' + rank_of_world()))
    must(MPI_ERR_OTHER, "the comparison of the data");
  must(MPI_File_close(&file), "MPI_File_close");
  return {median(written), median(read)};
}

/// Pieces of the ranks in turn.
Pattern interleaved(int piece, MPI_Offset bytes, MPI_Offset call_bytes, bool is_collective) {
  Pattern pattern = {(is_collective ? "together, pieces of " : "alone, pieces of ") + std::to_string(piece),
                     MPI_BYTE,
                     MPI_Offset{piece} * rank_of_world(),
                     bytes,
                     call_bytes,
                     is_collective};
  MPI_Datatype piece_type = MPI_BYTE;
  MPI_Type_contiguous(piece, MPI_BYTE, &piece_type);
  MPI_Type_create_resized(piece_type, 0, MPI_Aint{piece} * size_of_world(), &pattern.filetype);
  MPI_Type_commit(&pattern.filetype);
  MPI_Type_free(&piece_type);
  return pattern;
}

/// The block of each rank in an array of three dimensions of doubles.
Pattern block(int edge) {
  const int size = size_of_world();
  std::array<int, 3> grid = {};
  MPI_Dims_create(size, 3, grid.data());
  std::array<int, 3> whole = {edge * grid[0], edge * grid[1], edge * grid[2] * 8};
  std::array<int, 3> part = {edge, edge, edge * 8};
  const int rank = rank_of_world();
  const std::array<int, 3> start = {rank / (grid[1] * grid[2]) * edge, rank / grid[2] % grid[1] * edge,
                                    rank % grid[2] * edge * 8};
  const MPI_Offset bytes = MPI_Offset{edge} * edge * edge * 8;
  Pattern pattern = {
      "together, blocks of " + std::to_string(edge) + "^3 doubles", MPI_BYTE, 0, bytes, bytes, true};
  MPI_Type_create_subarray(3, whole.data(), part.data(), start.data(), MPI_ORDER_C, MPI_BYTE,
                           &pattern.filetype);
  MPI_Type_commit(&pattern.filetype);
  return pattern;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool helps = argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0);
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 7;
  if (helps || argc < 2 || argc > 3 || argv[1][0] == '-' || repetitions < 1) {
    if (rank_of_world() == 0) std::fputs(kUsage, helps ? stdout : stderr);
    MPI_Finalize();
    return helps ? 0 : 2;
  }
  constexpr MPI_Offset kBytes = MPI_Offset{16} << 20U;
  std::vector<Pattern> patterns;
  for (const MPI_Offset call : {MPI_Offset{4096}, MPI_Offset{65536}, kBytes}) {
    patterns.push_back({"alone, contiguous, calls of " + std::to_string(call), MPI_BYTE,
                        kBytes * rank_of_world(), call == 4096 ? kBytes / 4 : kBytes, call, false});
  }
  patterns.push_back({"together, contiguous, calls of 1048576", MPI_BYTE, kBytes * rank_of_world(), kBytes,
                      MPI_Offset{1} << 20U, true});
  patterns.push_back(interleaved(64, kBytes / 4, kBytes / 4, false));
  patterns.push_back(interleaved(4096, kBytes, kBytes, false));
  for (const int piece : {8, 64, 1024, 16384, 131072})
    patterns.push_back(
        interleaved(piece, piece < 64 ? kBytes / 8 : kBytes, piece < 64 ? kBytes / 8 : kBytes, true));
  patterns.push_back(block(96));
  patterns.push_back(block(32));
  for (Pattern& pattern : patterns) {
    const Bandwidth found = run(argv[1], pattern, repetitions);
    if (rank_of_world() == 0)
      std::printf("%-42s %8.0f %8.0f\n", pattern.name.c_str(), found.written, found.read);
    std::fflush(stdout);
    if (pattern.filetype != MPI_BYTE) MPI_Type_free(&pattern.filetype);
  }
  MPI_Finalize();
  return 0;
}
