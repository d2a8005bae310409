// Neighbourhood collectives in their three forms in grids and graphs, with neighbours that are missing, the
// process itself, or there twice.

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "check.hpp"
#include "forms.hpp"

namespace {

using mpi_test::Call;
using mpi_test::Form;
using mpi_test::rank_in;
using mpi_test::size_of;

/// The neighbours of a process as the test knows them.
struct Neighbors {
  std::vector<int> sources;
  std::vector<int> destinations;
  /// For each source, which of the source's destinations this process is.
  std::vector<int> places;
};

/// Element `i` of the block that `rank` sends to its destination number `place`.
int element(int rank, int place, int i) { return rank * 10000 + place * 100 + i; }

constexpr int kUntouched = -1;

/// The longest block. Block `place` of rank r has length_of(r, place) elements in the calls with counts.
constexpr int kLongest = 5;
int length_of(int rank, int place) { return (rank * 3 + place) % (kLongest + 1); }

/// Each call moves blocks of one length.
void equal_blocks(MPI_Comm comm, const Neighbors& all, Form form) {
  const int rank = rank_in(comm);
  std::vector<int> out(all.destinations.size() * kLongest);
  std::vector<int> in(all.sources.size() * kLongest, kUntouched);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = element(rank, static_cast<int>(i) / kLongest, static_cast<int>(i) % kLongest);
  const auto expect = [&](bool same) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t block = i / kLongest;
      const int source = all.sources[block];
      const int place = same ? 0 : all.places[block];
      CHECK(in[i] ==
            (source == MPI_PROC_NULL ? kUntouched : element(source, place, static_cast<int>(i % kLongest))));
    }
    std::fill(in.begin(), in.end(), kUntouched);
  };
  SUCCEEDS((Call(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init)(
      form, out.data(), kLongest, MPI_INT, in.data(), kLongest, MPI_INT, comm)));
  expect(false);
  SUCCEEDS((Call(MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c, MPI_Neighbor_alltoall_init_c)(
      form, out.data(), kLongest, MPI_INT, in.data(), kLongest, MPI_INT, comm)));
  expect(false);
  out.resize(std::max(out.size(), static_cast<std::size_t>(kLongest)));
  for (int i = 0; i < kLongest; ++i) out[static_cast<std::size_t>(i)] = element(rank, 0, i);
  SUCCEEDS((Call(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init)(
      form, out.data(), kLongest, MPI_INT, in.data(), kLongest, MPI_INT, comm)));
  expect(true);
  SUCCEEDS((Call(MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c, MPI_Neighbor_allgather_init_c)(
      form, out.data(), kLongest, MPI_INT, in.data(), kLongest, MPI_INT, comm)));
  expect(true);
}

/// The arguments of calls with counts: block i begins behind a gap of one element after block i - 1.
template <class Count, class Place>
struct Layout {
  std::vector<Count> counts;
  std::vector<Place> places;
  std::vector<Place> bytes;
  std::vector<MPI_Datatype> types;
  std::size_t total = 0;

  void add(int count) {
    counts.push_back(count);
    places.push_back(static_cast<Place>(total));
    bytes.push_back(static_cast<Place>(total * sizeof(int)));
    types.push_back(MPI_INT);
    total += static_cast<std::size_t>(count) + 1;
  }
};

/// Checks what came: `place_of(i)` is which of its blocks source i has sent.
template <class Count, class Place, class PlaceOf>
void expect_blocks(const Layout<Count, Place>& layout, const Neighbors& all, std::vector<int>& in,
                   const PlaceOf& place_of) {
  std::vector<int> expected(in.size(), kUntouched);
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    if (all.sources[i] == MPI_PROC_NULL) continue;
    for (int j = 0; j < static_cast<int>(layout.counts[i]); ++j)
      expected[static_cast<std::size_t>(layout.places[i]) + static_cast<std::size_t>(j)] =
          element(all.sources[i], place_of(i), j);
  }
  CHECK(in == expected);
  std::fill(in.begin(), in.end(), kUntouched);
}

template <class Count, class Place, class Alltoallv, class Alltoallw, class Allgatherv>
void blocks_of_lengths(MPI_Comm comm, const Neighbors& all, Form form, const Alltoallv& alltoallv,
                       const Alltoallw& alltoallw, const Allgatherv& allgatherv) {
  const int rank = rank_in(comm);
  Layout<Count, Place> to;
  Layout<Count, Place> from;
  Layout<Count, Place> gathered;
  for (std::size_t i = 0; i < all.destinations.size(); ++i) to.add(length_of(rank, static_cast<int>(i)));
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    from.add(all.sources[i] == MPI_PROC_NULL ? 2 : length_of(all.sources[i], all.places[i]));
    gathered.add(all.sources[i] == MPI_PROC_NULL ? 2 : length_of(all.sources[i], 0));
  }
  std::vector<int> out(to.total + kLongest);
  std::vector<int> in(from.total + 1, kUntouched);
  for (std::size_t i = 0; i < all.destinations.size(); ++i) {
    for (int j = 0; j < static_cast<int>(to.counts[i]); ++j)
      out[static_cast<std::size_t>(to.places[i]) + static_cast<std::size_t>(j)] =
          element(rank, static_cast<int>(i), j);
  }
  const auto place = [&](std::size_t i) { return all.places[i]; };
  SUCCEEDS(alltoallv(form, out.data(), to.counts.data(), to.places.data(), MPI_INT, in.data(),
                     from.counts.data(), from.places.data(), MPI_INT, comm));
  expect_blocks(from, all, in, place);
  const std::vector<MPI_Aint> to_bytes(to.bytes.begin(), to.bytes.end());
  const std::vector<MPI_Aint> from_bytes(from.bytes.begin(), from.bytes.end());
  SUCCEEDS(alltoallw(form, out.data(), to.counts.data(), to_bytes.data(), to.types.data(), in.data(),
                     from.counts.data(), from_bytes.data(), from.types.data(), comm));
  expect_blocks(from, all, in, place);
  in.assign(gathered.total + 1, kUntouched);
  for (int j = 0; j < kLongest; ++j) out[static_cast<std::size_t>(j)] = element(rank, 0, j);
  SUCCEEDS(allgatherv(form, out.data(), length_of(rank, 0), MPI_INT, in.data(), gathered.counts.data(),
                      gathered.places.data(), MPI_INT, comm));
  expect_blocks(gathered, all, in, [](std::size_t) { return 0; });
}

void exchange(MPI_Comm comm, const Neighbors& all) {
  for (const Form form : mpi_test::kForms) {
    equal_blocks(comm, all, form);
    blocks_of_lengths<int, int>(
        comm, all, form, Call(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init),
        Call(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init),
        Call(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init));
    blocks_of_lengths<MPI_Count, MPI_Aint>(
        comm, all, form,
        Call(MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c, MPI_Neighbor_alltoallv_init_c),
        Call(MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c),
        Call(MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c, MPI_Neighbor_allgatherv_init_c));
  }
}

/// Processes in a ring exchange a column of a matrix of their own with each of the two neighbours. The data
/// are not contiguous.
class RingOfColumns {
 public:
  RingOfColumns() {
    const int size = size_of(MPI_COMM_WORLD);
    const int ring = 1;
    SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm_));
    SUCCEEDS(MPI_Type_vector(kRows, 1, kColumns, MPI_INT, &column_));
    SUCCEEDS(MPI_Type_commit(&column_));
    types_ = {column_, column_};
  }
  ~RingOfColumns() {
    MPI_Type_free(&column_);
    MPI_Comm_free(&comm_);
  }
  RingOfColumns(const RingOfColumns&) = delete;
  RingOfColumns& operator=(const RingOfColumns&) = delete;

  /// A matrix: the outer columns belong to the neighbours' values, and the next ones are sent.
  struct Matrix {
    explicit Matrix(int tag) : value(100 * rank_in(MPI_COMM_WORLD) + 1000 * tag) {
      for (int row = 0; row < kRows; ++row) {
        for (int column = 0; column < kColumns; ++column) at(row, column) = value + column;
      }
    }
    int& at(int row, int column) { return data[static_cast<std::size_t>(row * kColumns + column)]; }
    int value;
    std::vector<int> data = std::vector<int>(static_cast<std::size_t>(kRows * kColumns));
  };

  [[nodiscard]] int begin(Form form, Matrix& matrix, MPI_Request* request) const {
    const Call call(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init);
    return call.begin(form, request, matrix.data.data(), ones_.data(), inner_.data(), types_.data(),
                      matrix.data.data(), ones_.data(), outer_.data(), types_.data(), comm_);
  }
  [[nodiscard]] int block(Matrix& matrix) const {
    return MPI_Neighbor_alltoallw(matrix.data.data(), ones_.data(), inner_.data(), types_.data(),
                                  matrix.data.data(), ones_.data(), outer_.data(), types_.data(), comm_);
  }
  void check(Matrix& matrix, int tag) const {
    const int size = size_of(MPI_COMM_WORLD);
    const int rank = rank_in(MPI_COMM_WORLD);
    const int below = 100 * ((rank + size - 1) % size) + 1000 * tag;
    const int above = 100 * ((rank + 1) % size) + 1000 * tag;
    bool right = true;
    for (int row = 0; row < kRows; ++row) {
      right = right && matrix.at(row, 0) == below + kColumns - 2 && matrix.at(row, kColumns - 1) == above + 1;
      for (int column = 1; column < kColumns - 1; ++column)
        right = right && matrix.at(row, column) == matrix.value + column;
    }
    CHECK(right);
  }

 private:
  static constexpr int kRows = 3000;
  static constexpr int kColumns = 5;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  std::array<int, 2> ones_ = {1, 1};
  std::array<MPI_Aint, 2> inner_ = {sizeof(int), (kColumns - 2) * sizeof(int)};
  std::array<MPI_Aint, 2> outer_ = {0, (kColumns - 1) * sizeof(int)};
  std::array<MPI_Datatype, 2> types_ = {};
};

/// The calls go on by themselves: none waits in its start, and every wait drives all of them.
void in_the_background() {
  const RingOfColumns ring;
  RingOfColumns::Matrix alone(0);
  SUCCEEDS(ring.block(alone));
  ring.check(alone, 0);
  for (const Form form : {Form::nonblocking, Form::persistent}) {
    RingOfColumns::Matrix late(1);
    mpi_test::nothing_waits_inside([&](MPI_Request* request) { return ring.begin(form, late, request); });
    ring.check(late, 1);
    std::vector<RingOfColumns::Matrix> several = {RingOfColumns::Matrix(2), RingOfColumns::Matrix(3),
                                                  RingOfColumns::Matrix(4)};
    mpi_test::waits_drive_all_calls([&](int i, MPI_Request* request) {
      return ring.begin(form, several[static_cast<std::size_t>(i)], request);
    });
    for (int i = 0; i < 3; ++i) ring.check(several[static_cast<std::size_t>(i)], 2 + i);
  }
}

/// Processes may start persistent calls in different orders.
void persistent_orders() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ring = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm));
  constexpr int kCalls = 3;
  std::array<int, kCalls> out = {};
  std::array<std::array<int, 2>, kCalls> in = {};
  std::array<MPI_Request, kCalls> requests = {};
  for (std::size_t i = 0; i < kCalls; ++i)
    SUCCEEDS(MPI_Neighbor_allgather_init(&out[i], 1, MPI_INT, in[i].data(), 1, MPI_INT, comm, MPI_INFO_NULL,
                                         &requests[i]));
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < kCalls; ++i) {
      const std::size_t call = (i + static_cast<std::size_t>(rank)) % kCalls;
      out[call] = 100 * rank + 10 * round + static_cast<int>(call);
      SUCCEEDS(MPI_Start(&requests[call]));
    }
    SUCCEEDS(MPI_Waitall(kCalls, requests.data(), MPI_STATUSES_IGNORE));
    for (std::size_t call = 0; call < kCalls; ++call) {
      const int value = 10 * round + static_cast<int>(call);
      CHECK(in[call][0] == 100 * ((rank + size - 1) % size) + value);
      CHECK(in[call][1] == 100 * ((rank + 1) % size) + value);
    }
  }
  for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
  SUCCEEDS(MPI_Comm_free(&comm));
}

/// Grids of drawn dimensions. Periodic dimensions of 1 and 2 processes have neighbours twice: what goes down
/// arrives from above.
void grids(std::mt19937& random) {
  const int size = size_of(MPI_COMM_WORLD);
  for (int turn = 0; turn < 8; ++turn) {
    std::vector<int> dims(random() % 3 + 1);
    std::vector<int> periods(dims.size());
    const auto count = static_cast<int>(dims.size());
    SUCCEEDS(MPI_Dims_create(std::max(1, size - turn % 2), count, dims.data()));
    for (int& period : periods) period = static_cast<int>(random() % 2);
    MPI_Comm grid = MPI_COMM_NULL;
    SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, count, dims.data(), periods.data(), 0, &grid));
    if (grid == MPI_COMM_NULL) continue;
    Neighbors all;
    for (int d = 0; d < count; ++d) {
      int below = -1;
      int above = -1;
      SUCCEEDS(MPI_Cart_shift(grid, d, 1, &below, &above));
      all.sources.insert(all.sources.end(), {below, above});
      all.places.insert(all.places.end(), {2 * d + 1, 2 * d});
    }
    all.destinations = all.sources;
    exchange(grid, all);
    SUCCEEDS(MPI_Comm_free(&grid));
  }
}

/// Every process is a neighbour of every one, itself included, in the order of ranks.
void whole_graph() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  std::vector<int> index;
  std::vector<int> edges;
  for (int node = 0; node < size; ++node) {
    for (int other = 0; other < size; ++other) edges.push_back(other);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm graph = MPI_COMM_NULL;
  SUCCEEDS(MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &graph));
  Neighbors all;
  for (int other = 0; other < size; ++other) {
    all.sources.push_back(other);
    all.places.push_back(rank);
  }
  all.destinations = all.sources;
  exchange(graph, all);
  SUCCEEDS(MPI_Comm_free(&graph));
}

/// Random edges, all named by rank 0, so that parallel edges have the order of its list at both ends.
void distributed_graphs(std::mt19937& random) {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  std::uniform_int_distribution<int> any(0, size - 1);
  for (int turn = 0; turn < 6; ++turn) {
    std::vector<int> sources;
    std::vector<int> destinations;
    std::vector<int> sent(static_cast<std::size_t>(size));  // how many edges of each process there are so far
    Neighbors all;
    for (int i = 0; i < 4 * size; ++i) {
      const int source = any(random);
      const int destination = any(random);
      sources.push_back(source);
      destinations.push_back(destination);
      if (source == rank) all.destinations.push_back(destination);
      if (destination == rank) {
        all.sources.push_back(source);
        all.places.push_back(sent[static_cast<std::size_t>(source)]);
      }
      ++sent[static_cast<std::size_t>(source)];
    }
    const std::vector<int> degrees(sources.size(), 1);
    MPI_Comm graph = MPI_COMM_NULL;
    const int edges = rank == 0 ? static_cast<int>(sources.size()) : 0;
    SUCCEEDS(MPI_Dist_graph_create(MPI_COMM_WORLD, edges, sources.data(), degrees.data(), destinations.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    exchange(graph, all);
    SUCCEEDS(MPI_Comm_free(&graph));
  }
}

void mistakes() {
  int in = 0;
  const int out = 0;
  CHECK(MPI_Neighbor_allgather(&out, 1, MPI_INT, &in, 1, MPI_INT, MPI_COMM_WORLD) == MPI_ERR_TOPOLOGY);
  CHECK(MPI_Neighbor_alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, MPI_COMM_NULL) == MPI_ERR_COMM);
  const int size = size_of(MPI_COMM_WORLD);
  const int ring = 1;
  MPI_Comm grid = MPI_COMM_NULL;
  std::array<int, 2> received = {};
  const std::array<int, 2> sent = {};
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &grid));
  CHECK(MPI_Neighbor_alltoall(sent.data(), 1, MPI_DATATYPE_NULL, received.data(), 1, MPI_DATATYPE_NULL,
                              grid) == MPI_ERR_TYPE);
  CHECK(MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), -1, MPI_INT, grid) == MPI_ERR_COUNT);
  CHECK(MPI_Neighbor_alltoallv(sent.data(), nullptr, nullptr, MPI_INT, received.data(), nullptr, nullptr,
                               MPI_INT, grid) == MPI_ERR_ARG);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(MPI_Ineighbor_alltoall(sent.data(), 1, MPI_DATATYPE_NULL, received.data(), 1, MPI_DATATYPE_NULL, grid,
                               &request) == MPI_ERR_TYPE);
  CHECK(MPI_Ineighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), -1, MPI_INT, grid, &request) ==
        MPI_ERR_COUNT);
  CHECK(MPI_Neighbor_alltoallv_init(sent.data(), nullptr, nullptr, MPI_INT, received.data(), nullptr, nullptr,
                                    MPI_INT, grid, MPI_INFO_NULL, &request) == MPI_ERR_ARG);
  CHECK(MPI_Ineighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD,
                               &request) == MPI_ERR_TOPOLOGY);
  CHECK(request == MPI_REQUEST_NULL);
  SUCCEEDS(MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, grid));
  SUCCEEDS(MPI_Comm_free(&grid));
}

/// Behind MPI_BOTTOM the displacements are addresses, also those of blocks of predefined types.
void addresses() {
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ring = 1;
  MPI_Comm grid = MPI_COMM_NULL;
  SUCCEEDS(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &grid));
  const std::array<int, 2> sent = {rank, rank};
  const std::array<int, 2> ones = {1, 1};
  const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_INT};
  const mpi_test::Call call(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init);
  for (const mpi_test::Form form : mpi_test::kForms) {
    std::array<int, 2> received = {-1, -1};
    std::array<MPI_Aint, 2> from = {};
    std::array<MPI_Aint, 2> to = {};
    for (std::size_t i = 0; i < 2; ++i) {
      SUCCEEDS(MPI_Get_address(&sent[i], &from[i]));
      SUCCEEDS(MPI_Get_address(&received[i], &to[i]));
    }
    SUCCEEDS(call(form, MPI_BOTTOM, ones.data(), from.data(), types.data(), MPI_BOTTOM, ones.data(),
                  to.data(), types.data(), grid));
    CHECK(received[0] == (rank + size - 1) % size && received[1] == (rank + 1) % size);
  }
  SUCCEEDS(MPI_Comm_free(&grid));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::mt19937 random(mpi_test::test_seed());
  grids(random);
  whole_graph();
  distributed_graphs(random);
  in_the_background();
  persistent_orders();
  addresses();
  mistakes();
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
