// Derived datatypes in all collective calls: blocking, nonblocking and persistent ones.

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

enum class Form { kBlocking, kNonblocking, kPersistent };
Form form = Form::kBlocking;

/// Makes a collective call in the present form.
template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
int call(Blocking blocking, Nonblocking nonblocking, Persistent persistent, Arguments... arguments) {
  if (form == Form::kBlocking) return blocking(arguments...);
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == Form::kNonblocking) {
    const int code = nonblocking(arguments..., &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  int code = persistent(arguments..., MPI_INFO_NULL, &request);
  if (code != MPI_SUCCESS) {
    CHECK(request == MPI_REQUEST_NULL);
    return code;
  }
  code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  SUCCEEDS(MPI_Request_free(&request));
  return code;
}
#define CALL(name, nonblocking, ...) call(MPI_##name, MPI_##nonblocking, MPI_##name##_init, __VA_ARGS__)

// A matrix of kRows rows, with as many columns as there are ranks. Collectives move columns.
constexpr int kRows = 7;

class Columns {
 public:
  Columns() : rank(rank_in(MPI_COMM_WORLD)), size(size_of(MPI_COMM_WORLD)) {
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_vector(kRows, 1, size, MPI_INT, &whole));
    // So that the columns of a matrix are neighbours in an array of this type.
    SUCCEEDS(MPI_Type_create_resized(whole, 0, sizeof(int), &column));
    SUCCEEDS(MPI_Type_commit(&column));
    SUCCEEDS(MPI_Type_free(&whole));
  }
  ~Columns() { SUCCEEDS(MPI_Type_free(&column)); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  [[nodiscard]] std::vector<int> matrix(int value) const {
    return std::vector<int>(static_cast<std::size_t>(kRows * size), value);
  }
  /// The number in a row of rank `of`'s block for rank `to`.
  [[nodiscard]] static int number(int of, int to, int row) { return 10000 * of + 100 * to + row; }
  [[nodiscard]] int& at(std::vector<int>& matrix, int row, int of) const {
    return matrix[static_cast<std::size_t>(row * size + of)];
  }
  /// A contiguous block from one rank to another.
  [[nodiscard]] static std::vector<int> block(int of, int to) {
    std::vector<int> numbers(kRows);
    for (int row = 0; row < kRows; ++row) numbers[static_cast<std::size_t>(row)] = number(of, to, row);
    return numbers;
  }

  int rank;
  int size;
  MPI_Datatype column = MPI_DATATYPE_NULL;
};

void rooted_collectives() {
  const Columns columns;
  const auto [rank, size] = std::pair(columns.rank, columns.size);
  const int root = size - 1;
  std::vector<int> ones(static_cast<std::size_t>(size), 1);
  std::vector<int> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);

  std::vector<int> matrix = columns.matrix(-1);
  if (rank == root)
    for (int row = 0; row < kRows; ++row) columns.at(matrix, row, size / 2) = row;
  int* const middle = &columns.at(matrix, 0, size / 2);
  SUCCEEDS(CALL(Bcast, Ibcast, middle, 1, columns.column, root, MPI_COMM_WORLD));
  for (int row = 0; row < kRows; ++row)
    for (int of = 0; of < size; ++of) CHECK(columns.at(matrix, row, of) == (of == size / 2 ? row : -1));

  for (const bool with_counts : {false, true}) {
    matrix = columns.matrix(-1);
    const std::vector<int> mine = Columns::block(rank, root);
    if (with_counts) {
      SUCCEEDS(CALL(Gatherv, Igatherv, mine.data(), kRows, MPI_INT, matrix.data(), ones.data(), places.data(),
                    columns.column, root, MPI_COMM_WORLD));
    } else {
      SUCCEEDS(CALL(Gather, Igather, mine.data(), kRows, MPI_INT, matrix.data(), 1, columns.column, root,
                    MPI_COMM_WORLD));
    }
    for (int row = 0; row < kRows; ++row)
      for (int of = 0; of < size; ++of)
        CHECK(columns.at(matrix, row, of) == (rank == root ? Columns::number(of, root, row) : -1));

    // And back, into every second number.
    std::vector<int> spread(2 * kRows, -1);
    MPI_Datatype second = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_vector(kRows, 1, 2, MPI_INT, &second));
    SUCCEEDS(MPI_Type_commit(&second));
    if (with_counts) {
      SUCCEEDS(CALL(Scatterv, Iscatterv, matrix.data(), ones.data(), places.data(), columns.column,
                    spread.data(), 1, second, root, MPI_COMM_WORLD));
    } else {
      SUCCEEDS(CALL(Scatter, Iscatter, matrix.data(), 1, columns.column, spread.data(), 1, second, root,
                    MPI_COMM_WORLD));
    }
    for (int row = 0; row < kRows; ++row) {
      CHECK(spread[static_cast<std::size_t>(2 * row)] == Columns::number(rank, root, row));
      CHECK(spread[static_cast<std::size_t>(2 * row + 1)] == -1);
    }
    SUCCEEDS(MPI_Type_free(&second));
  }
}

void all_to_all_collectives() {
  const Columns columns;
  const auto [rank, size] = std::pair(columns.rank, columns.size);
  std::vector<int> ones(static_cast<std::size_t>(size), 1);
  std::vector<int> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);

  for (const int variant : {0, 1, 2}) {
    std::vector<int> matrix = columns.matrix(-1);
    const std::vector<int> mine = Columns::block(rank, 0);
    if (variant == 0) {
      SUCCEEDS(CALL(Allgather, Iallgather, mine.data(), kRows, MPI_INT, matrix.data(), 1, columns.column,
                    MPI_COMM_WORLD));
    } else if (variant == 1) {
      SUCCEEDS(CALL(Allgatherv, Iallgatherv, mine.data(), kRows, MPI_INT, matrix.data(), ones.data(),
                    places.data(), columns.column, MPI_COMM_WORLD));
    } else {
      for (int row = 0; row < kRows; ++row)
        columns.at(matrix, row, rank) = mine[static_cast<std::size_t>(row)];
      SUCCEEDS(CALL(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, matrix.data(), 1,
                    columns.column, MPI_COMM_WORLD));
    }
    for (int row = 0; row < kRows; ++row)
      for (int of = 0; of < size; ++of) CHECK(columns.at(matrix, row, of) == Columns::number(of, 0, row));
  }

  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), columns.column);
  std::vector<int> bytes(places);
  for (int& place : bytes) place *= static_cast<int>(sizeof(int));
  for (const int variant : {0, 1, 2, 3, 4}) {
    std::vector<int> out = columns.matrix(0);
    std::vector<int> in = columns.matrix(-1);
    for (int row = 0; row < kRows; ++row)
      for (int to = 0; to < size; ++to) columns.at(out, row, to) = Columns::number(rank, to, row);
    if (variant == 0) {
      SUCCEEDS(CALL(Alltoall, Ialltoall, out.data(), 1, columns.column, in.data(), 1, columns.column,
                    MPI_COMM_WORLD));
    } else if (variant == 1) {
      SUCCEEDS(CALL(Alltoallv, Ialltoallv, out.data(), ones.data(), places.data(), columns.column, in.data(),
                    ones.data(), places.data(), columns.column, MPI_COMM_WORLD));
    } else if (variant == 2) {
      SUCCEEDS(CALL(Alltoallw, Ialltoallw, out.data(), ones.data(), bytes.data(), types.data(), in.data(),
                    ones.data(), bytes.data(), types.data(), MPI_COMM_WORLD));
    } else if (variant == 3) {
      in = out;
      SUCCEEDS(CALL(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.data(), 1, columns.column,
                    MPI_COMM_WORLD));
    } else {
      in = out;
      SUCCEEDS(CALL(Alltoallw, Ialltoallw, MPI_IN_PLACE, nullptr, nullptr, nullptr, in.data(), ones.data(),
                    bytes.data(), types.data(), MPI_COMM_WORLD));
    }
    for (int row = 0; row < kRows; ++row)
      for (int of = 0; of < size; ++of) CHECK(columns.at(in, row, of) == Columns::number(of, rank, row));
  }
}

/// Blocks without elements have no type.
void null_types() {
  const Columns columns;
  const auto [rank, size] = std::pair(columns.rank, columns.size);
  const auto ranks = static_cast<std::size_t>(size);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  std::vector<int> out_counts(ranks);
  std::vector<int> in_counts(ranks);
  std::vector<int> places(ranks);
  std::vector<MPI_Datatype> out_types(ranks, MPI_DATATYPE_NULL);
  std::vector<MPI_Datatype> in_types(ranks, MPI_DATATYPE_NULL);
  out_counts[static_cast<std::size_t>(next)] = in_counts[static_cast<std::size_t>(previous)] = 1;
  out_types[static_cast<std::size_t>(next)] = MPI_INT;
  in_types[static_cast<std::size_t>(previous)] = MPI_INT;
  int in = -1;
  SUCCEEDS(CALL(Alltoallw, Ialltoallw, &rank, out_counts.data(), places.data(), out_types.data(), &in,
                in_counts.data(), places.data(), in_types.data(), MPI_COMM_WORLD));
  CHECK(in == previous);
  // Without any data.
  const std::vector<int> none(ranks);
  const std::vector<MPI_Datatype> no_types(ranks, MPI_DATATYPE_NULL);
  SUCCEEDS(CALL(Alltoallw, Ialltoallw, nullptr, none.data(), places.data(), no_types.data(), nullptr,
                none.data(), places.data(), no_types.data(), MPI_COMM_WORLD));
  in = 5;
  SUCCEEDS(CALL(Alltoallw, Ialltoallw, MPI_IN_PLACE, nullptr, nullptr, nullptr, &in, none.data(),
                places.data(), no_types.data(), MPI_COMM_WORLD));
  CHECK(in == 5);
  const int length = size;
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &periodic, 0, &ring));
  const std::array<MPI_Aint, 2> addresses = {0, 0};
  const std::array<int, 2> first = {1, 0};
  const std::array<int, 2> second = {0, 1};
  const std::array<MPI_Datatype, 2> one = {MPI_INT, MPI_DATATYPE_NULL};
  const std::array<MPI_Datatype, 2> other = {MPI_DATATYPE_NULL, MPI_INT};
  SUCCEEDS(CALL(Neighbor_alltoallw, Ineighbor_alltoallw, &rank, first.data(), addresses.data(), one.data(),
                &in, second.data(), addresses.data(), other.data(), ring));
  CHECK(in == next);  // the number goes to the rank before
  SUCCEEDS(MPI_Comm_free(&ring));
  const std::vector<int> all(ranks, 1);
  CHECK(CALL(Alltoallw, Ialltoallw, &rank, all.data(), places.data(), no_types.data(), &in, none.data(),
             places.data(), no_types.data(), MPI_COMM_WORLD) == MPI_ERR_TYPE);
}

/// A struct with a hole in front, between its numbers and behind them.
struct Holey {
  int before;
  int left;
  int between;
  int right;
  int behind;
};

/// Composes two affine maps, left * x + right: associative, and not commutative. Counts in wrapping
/// arithmetic.
void compose(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const a = static_cast<const Holey*>(in);
  auto* const b = static_cast<Holey*>(inout);
  for (int i = 0; i < *count; ++i) {
    const unsigned left = static_cast<unsigned>(a[i].left);
    const unsigned right = static_cast<unsigned>(a[i].right);
    b[i].right =
        static_cast<int>(right * static_cast<unsigned>(b[i].left) + static_cast<unsigned>(b[i].right));
    b[i].left = static_cast<int>(left * static_cast<unsigned>(b[i].left));
  }
}

Holey map_of(int rank, int number) { return {-7, 3 + rank, -8, 5 + number + rank, -9}; }

/// Returns the composition of the maps of ranks [0, end).
Holey composition(int end, int number) {
  Holey all = map_of(0, number);
  for (int rank = 1; rank < end; ++rank) {
    Holey next = map_of(rank, number);
    int one = 1;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    compose(&all, &next, &one, &none);
    all = next;
  }
  return all;
}

bool is(const Holey& got, const Holey& wanted) {
  const bool holes = got.before == 1 && got.between == 1 && got.behind == 1;
  return holes && got.left == wanted.left && got.right == wanted.right;
}

void reductions() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  constexpr int kCount = 3;
  MPI_Datatype parts = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  const std::array places = {1, 3};
  SUCCEEDS(MPI_Type_create_indexed_block(2, 1, places.data(), MPI_INT, &parts));
  SUCCEEDS(MPI_Type_create_resized(parts, 0, sizeof(Holey), &type));
  SUCCEEDS(MPI_Type_commit(&type));
  SUCCEEDS(MPI_Op_create(compose, 0, &op));

  std::vector<Holey> mine;
  for (int i = 0; i < kCount * size; ++i) mine.push_back(map_of(rank, i));
  const std::vector<Holey> untouched(mine.size(), Holey{1, 1, 1, 1, 1});
  const auto all_are = [&](const std::vector<Holey>& got, int first, int end) {
    for (int i = 0; i < kCount; ++i) CHECK(is(got[static_cast<std::size_t>(i)], composition(end, first + i)));
  };

  std::vector<Holey> in = untouched;
  const int root = size / 2;
  SUCCEEDS(CALL(Reduce, Ireduce, mine.data(), in.data(), kCount, type, op, root, MPI_COMM_WORLD));
  if (rank == root) all_are(in, 0, size);
  in = untouched;
  SUCCEEDS(CALL(Allreduce, Iallreduce, mine.data(), in.data(), kCount, type, op, MPI_COMM_WORLD));
  all_are(in, 0, size);
  in = untouched;
  SUCCEEDS(CALL(Scan, Iscan, mine.data(), in.data(), kCount, type, op, MPI_COMM_WORLD));
  all_are(in, 0, rank + 1);
  in = untouched;
  SUCCEEDS(CALL(Exscan, Iexscan, mine.data(), in.data(), kCount, type, op, MPI_COMM_WORLD));
  if (rank > 0) all_are(in, 0, rank);
  in = untouched;
  SUCCEEDS(CALL(Reduce_scatter_block, Ireduce_scatter_block, mine.data(), in.data(), kCount, type, op,
                MPI_COMM_WORLD));
  all_are(in, kCount * rank, size);
  in = untouched;
  const std::vector<int> counts(static_cast<std::size_t>(size), kCount);
  SUCCEEDS(
      CALL(Reduce_scatter, Ireduce_scatter, mine.data(), in.data(), counts.data(), type, op, MPI_COMM_WORLD));
  all_are(in, kCount * rank, size);

  SUCCEEDS(MPI_Op_free(&op));
  SUCCEEDS(MPI_Type_free(&parts));
  SUCCEEDS(MPI_Type_free(&type));
}

/// A persistent call takes the data of each start, and keeps its type.
void restarted() {
  const Columns columns;
  std::vector<int> matrix = columns.matrix(-1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Type_dup(columns.column, &type));
  SUCCEEDS(MPI_Bcast_init(matrix.data(), 1, type, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  SUCCEEDS(MPI_Type_free(&type));
  for (int round = 0; round < 3; ++round) {
    if (columns.rank == 0)
      for (int row = 0; row < kRows; ++row) columns.at(matrix, row, 0) = 100 * round + row;
    SUCCEEDS(MPI_Start(&request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int row = 0; row < kRows; ++row)
      for (int of = 0; of < columns.size; ++of)
        CHECK(columns.at(matrix, row, of) == (of == 0 ? 100 * round + row : -1));
  }
  SUCCEEDS(MPI_Request_free(&request));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const Form one : {Form::kBlocking, Form::kNonblocking, Form::kPersistent}) {
    form = one;
    rooted_collectives();
    all_to_all_collectives();
    null_types();
    reductions();
  }
  restarted();
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
