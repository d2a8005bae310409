// ARMCI, OpenSHMEM and MPI in one program, on one job and the same memory. A matrix is distributed by rows
// with ARMCI, as Global Arrays does it. The ranks transpose it block by block: an atomic counter of SHMEM, a
// static variable, gives out the blocks; strided gets and puts of ARMCI move them; a window of MPI and a
// reduction check the result.
//
//   rmarun -n 4 example-mixed_transpose

#include <armci.h>
#include <mpi.h>
#include <shmem.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int kRowsPerRank = 48;
constexpr int kBlock = 16;  // divides kRowsPerRank

long next_block = 0;  // of PE 0: a static variable is symmetric, as every PE has it

double element(int row, int column) { return 1000.0 * row + column; }

// A square matrix of which each rank has kRowsPerRank rows.
class Matrix {
 public:
  explicit Matrix(int ranks) : rows_(ranks * kRowsPerRank), parts_(static_cast<std::size_t>(ranks)) {
    ARMCI_Malloc(parts_.data(), bytes_of(kRowsPerRank * rows_));
  }
  ~Matrix() { ARMCI_Free(part(shmem_my_pe())); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] double* part(int rank) const {
    return static_cast<double*>(parts_[static_cast<std::size_t>(rank)]);
  }

  // Copy a block of kBlock x kBlock elements, whose first one is (row, column), from and to the rank that has
  // it.
  void get(int row, int column, double* block) const {
    auto [stride, dense, counts] = shape();
    ARMCI_GetS(at(row, column), &stride, block, &dense, counts.data(), 1, row / kRowsPerRank);
  }
  void put(int row, int column, double* block) const {
    auto [stride, dense, counts] = shape();
    ARMCI_PutS(block, &dense, at(row, column), &stride, counts.data(), 1, row / kRowsPerRank);
  }

 private:
  struct Shape {
    int stride, dense;
    std::array<int, 2> counts;
  };
  static int bytes_of(int elements) { return elements * static_cast<int>(sizeof(double)); }
  [[nodiscard]] Shape shape() const {
    return {bytes_of(rows_), bytes_of(kBlock), {bytes_of(kBlock), kBlock}};
  }
  [[nodiscard]] double* at(int row, int column) const {
    return part(row / kRowsPerRank) + row % kRowsPerRank * rows_ + column;
  }

  int rows_;
  std::vector<void*> parts_;
};

void fill(const Matrix& matrix, int me) {
  for (int row = 0; row < kRowsPerRank; ++row) {
    for (int column = 0; column < matrix.rows(); ++column)
      matrix.part(me)[row * matrix.rows() + column] = element(me * kRowsPerRank + row, column);
  }
}

// Each rank takes the next block that nobody has taken, until none is left. Returns how many it has taken.
long transpose(const Matrix& from, const Matrix& to) {
  const long across = from.rows() / kBlock;
  std::vector<double> block(static_cast<std::size_t>(kBlock) * kBlock);
  long taken = 0;
  for (long i; (i = shmem_long_atomic_fetch_inc(&next_block, 0)) < across * across; ++taken) {
    const int row = static_cast<int>(i / across) * kBlock;
    const int column = static_cast<int>(i % across) * kBlock;
    from.get(row, column, block.data());
    for (std::size_t a = 0; a < kBlock; ++a) {
      for (std::size_t b = 0; b < a; ++b) std::swap(block[a * kBlock + b], block[b * kBlock + a]);
    }
    to.put(column, row, block.data());
  }
  ARMCI_AllFence();
  return taken;
}

// Reads the next rank's part through a window of MPI over ARMCI's memory. Returns the number of wrong
// elements.
long count_wrong(const Matrix& result, int me, int ranks) {
  const int owner = (me + 1) % ranks;
  const int elements = kRowsPerRank * result.rows();
  std::vector<double> rows(static_cast<std::size_t>(elements));
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(result.part(me), elements * MPI_Aint{sizeof(double)}, sizeof(double), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Get(rows.data(), elements, MPI_DOUBLE, owner, 0, elements, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  long wrong = 0;
  for (int i = 0; i < elements; ++i) {
    const double right = element(i % result.rows(), owner * kRowsPerRank + i / result.rows());
    if (rows[static_cast<std::size_t>(i)] != right) ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shmem_init();
  ARMCI_Init();
  const int me = shmem_my_pe();  // also the rank in MPI_COMM_WORLD, and ARMCI's
  const int ranks = shmem_n_pes();
  std::array<long, 2> totals = {};
  {
    const Matrix from(ranks);
    const Matrix to(ranks);
    fill(from, me);
    ARMCI_Barrier();
    const long taken = transpose(from, to);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::array<long, 2> own = {taken, count_wrong(to, me, ranks)};
    MPI_Allreduce(own.data(), totals.data(), 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  if (me == 0)
    std::printf("%d ranks transposed %ld blocks, %ld elements are wrong\n", ranks, totals[0], totals[1]);
  ARMCI_Finalize();
  shmem_finalize();
  MPI_Finalize();
  return totals[1] == 0 ? 0 : 1;
}
