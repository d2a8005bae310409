// The forms of calls that count in MPI_Count, at any number of ranks. They do what the plain forms do, so
// each moves a little data; and all-to-all calls with a datatype for each member, in both forms.

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::Ring;

using Three = std::array<int, 3>;
Three three(int rank) { return {rank, 10 * rank, 100 * rank}; }

/// Receives three numbers, which `send` sends to the next rank. The receive is posted before the send starts.
template <class Send>
void passes(const Ring& ring, const Send& send) {
  Three in = {};
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Count count = -1;
  SUCCEEDS(MPI_Irecv_c(in.data(), 3, MPI_INT, ring.previous, 1, ring.comm, &receive));
  SUCCEEDS(MPI_Barrier(ring.comm));
  const Three out = three(ring.rank);
  send(out.data());
  SUCCEEDS(MPI_Wait(&receive, &status));
  SUCCEEDS(MPI_Get_count_c(&status, MPI_INT, &count));
  CHECK(count == 3 && in == three(ring.previous));
  SUCCEEDS(MPI_Get_elements_c(&status, MPI_INT, &count));
  CHECK(count == 3);
}

void sends(const Ring& ring) {
  std::vector<char> memory(100 * MPI_BSEND_OVERHEAD);
  SUCCEEDS(MPI_Buffer_attach_c(memory.data(), static_cast<MPI_Count>(memory.size())));
  for (const auto send : {MPI_Send_c, MPI_Ssend_c, MPI_Rsend_c, MPI_Bsend_c}) {
    passes(ring, [&](const int* out) { SUCCEEDS(send(out, 3, MPI_INT, ring.next, 1, ring.comm)); });
  }
  for (const auto start : {MPI_Isend_c, MPI_Issend_c, MPI_Irsend_c, MPI_Ibsend_c}) {
    passes(ring, [&](const int* out) {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(start(out, 3, MPI_INT, ring.next, 1, ring.comm, &request));
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    });
  }
  for (const auto make : {MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c}) {
    passes(ring, [&](const int* out) {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(make(out, 3, MPI_INT, ring.next, 1, ring.comm, &request));
      SUCCEEDS(MPI_Start(&request));
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
      SUCCEEDS(MPI_Request_free(&request));
    });
  }
  void* detached = nullptr;
  MPI_Count size = -1;
  SUCCEEDS(MPI_Buffer_detach_c(static_cast<void*>(&detached), &size));
  CHECK(detached == memory.data() && size == static_cast<MPI_Count>(memory.size()));
  SUCCEEDS(MPI_Comm_attach_buffer_c(ring.comm, memory.data(), static_cast<MPI_Count>(memory.size())));
  passes(ring, [&](const int* out) { SUCCEEDS(MPI_Bsend_c(out, 3, MPI_INT, ring.next, 1, ring.comm)); });
  SUCCEEDS(MPI_Comm_detach_buffer_c(ring.comm, static_cast<void*>(&detached), &size));
  CHECK(detached == memory.data() && size == static_cast<MPI_Count>(memory.size()));
}

void receives(const Ring& ring) {
  const Three out = three(ring.rank);
  Three in = {};
  const auto came = [&] {
    const bool right = in == three(ring.previous);
    in = {};
    return right;
  };
  const auto send = [&](MPI_Request& request) {
    SUCCEEDS(MPI_Isend(out.data(), 3, MPI_INT, ring.next, 2, ring.comm, &request));
  };
  MPI_Request sent = MPI_REQUEST_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  send(sent);
  SUCCEEDS(MPI_Recv_c(in.data(), 3, MPI_INT, ring.previous, 2, ring.comm, &status));
  CHECK(came() && status.MPI_TAG == 2);
  SUCCEEDS(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  send(sent);
  SUCCEEDS(MPI_Mprobe(ring.previous, 2, ring.comm, &message, &status));
  SUCCEEDS(MPI_Mrecv_c(in.data(), 3, MPI_INT, &message, &status));
  CHECK(came());
  SUCCEEDS(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  send(sent);
  SUCCEEDS(MPI_Mprobe(ring.previous, 2, ring.comm, &message, &status));
  SUCCEEDS(MPI_Imrecv_c(in.data(), 3, MPI_INT, &message, &request));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(came());
  SUCCEEDS(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Recv_init_c(in.data(), 3, MPI_INT, ring.previous, 2, ring.comm, &request));
  SUCCEEDS(MPI_Start(&request));
  send(sent);
  SUCCEEDS(MPI_Wait(&request, &status));
  SUCCEEDS(MPI_Request_free(&request));
  CHECK(came());
  SUCCEEDS(MPI_Wait(&sent, MPI_STATUS_IGNORE));

  SUCCEEDS(MPI_Sendrecv_c(out.data(), 3, MPI_INT, ring.next, 3, in.data(), 3, MPI_INT, ring.previous, 3,
                          ring.comm, &status));
  CHECK(came());
  SUCCEEDS(MPI_Isendrecv_c(out.data(), 3, MPI_INT, ring.next, 3, in.data(), 3, MPI_INT, ring.previous, 3,
                           ring.comm, &request));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(came());
  in = out;
  SUCCEEDS(MPI_Sendrecv_replace_c(in.data(), 3, MPI_INT, ring.next, 3, ring.previous, 3, ring.comm, &status));
  CHECK(came());
  in = out;
  SUCCEEDS(
      MPI_Isendrecv_replace_c(in.data(), 3, MPI_INT, ring.next, 3, ring.previous, 3, ring.comm, &request));
  SUCCEEDS(MPI_Wait(&request, &status));
  CHECK(came());
}

void datatypes() {
  MPI_Count lower = -1;
  MPI_Count extent = -1;
  SUCCEEDS(MPI_Type_get_extent_c(MPI_DOUBLE_INT, &lower, &extent));
  CHECK(lower == 0 && extent == 16);
  SUCCEEDS(MPI_Type_get_extent_x(MPI_SHORT_INT, &lower, &extent));
  CHECK(lower == 0 && extent == 8);
  SUCCEEDS(MPI_Type_get_true_extent_c(MPI_DOUBLE_INT, &lower, &extent));
  CHECK(lower == 0 && extent == 12);
  SUCCEEDS(MPI_Type_get_true_extent_x(MPI_INT, &lower, &extent));
  CHECK(lower == 0 && extent == 4);
  MPI_Status status;
  MPI_Count count = -1;
  constexpr MPI_Count kMany = MPI_Count{5} << 32U;
  SUCCEEDS(MPI_Status_set_elements_x(&status, MPI_INT, kMany));
  SUCCEEDS(MPI_Get_elements_c(&status, MPI_INT, &count));
  CHECK(count == kMany);
}

/// The number that rank `from` has for rank `to`.
int number(int from, int to) { return 1000 * from + to; }

void rooted(const Ring& ring) {
  const auto n = static_cast<std::size_t>(ring.size);
  const std::vector<MPI_Count> ones(n, 1);
  std::vector<MPI_Aint> places(n);
  std::iota(places.rbegin(), places.rend(), 0);  // member r is at n - 1 - r
  for (int root = 0; root < ring.size; ++root) {
    Three value = ring.rank == root ? three(root + 5) : Three();
    SUCCEEDS(MPI_Bcast_c(value.data(), 3, MPI_INT, root, ring.comm));
    CHECK(value == three(root + 5));
    std::vector<int> all(n, -1);
    const int mine = number(ring.rank, root);
    SUCCEEDS(MPI_Gather_c(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, root, ring.comm));
    for (int r = 0; r < ring.size && ring.rank == root; ++r)
      CHECK(all[static_cast<std::size_t>(r)] == number(r, root));
    int got = -1;
    SUCCEEDS(MPI_Scatter_c(all.data(), 1, MPI_INT, &got, 1, MPI_INT, root, ring.comm));
    CHECK(got == mine);
    SUCCEEDS(
        MPI_Gatherv_c(&mine, 1, MPI_INT, all.data(), ones.data(), places.data(), MPI_INT, root, ring.comm));
    for (int r = 0; r < ring.size && ring.rank == root; ++r) {
      CHECK(all[n - 1 - static_cast<std::size_t>(r)] == number(r, root));
    }
    SUCCEEDS(
        MPI_Scatterv_c(all.data(), ones.data(), places.data(), MPI_INT, &got, 1, MPI_INT, root, ring.comm));
    CHECK(got == mine);
    int sum = -1;
    SUCCEEDS(MPI_Reduce_c(&ring.rank, &sum, 1, MPI_INT, MPI_SUM, root, ring.comm));
    CHECK(ring.rank != root || sum == ring.size * (ring.size - 1) / 2);
  }
}

void of_all(const Ring& ring) {
  const auto n = static_cast<std::size_t>(ring.size);
  const std::vector<MPI_Count> ones(n, 1);
  std::vector<MPI_Aint> places(n);
  std::iota(places.rbegin(), places.rend(), 0);
  std::vector<int> all(n, -1);
  SUCCEEDS(MPI_Allgather_c(&ring.rank, 1, MPI_INT, all.data(), 1, MPI_INT, ring.comm));
  for (int r = 0; r < ring.size; ++r) CHECK(all[static_cast<std::size_t>(r)] == r);
  SUCCEEDS(
      MPI_Allgatherv_c(&ring.rank, 1, MPI_INT, all.data(), ones.data(), places.data(), MPI_INT, ring.comm));
  for (int r = 0; r < ring.size; ++r) CHECK(all[n - 1 - static_cast<std::size_t>(r)] == r);
  std::vector<int> out(n);
  for (int r = 0; r < ring.size; ++r) out[static_cast<std::size_t>(r)] = number(ring.rank, r);
  SUCCEEDS(MPI_Alltoall_c(out.data(), 1, MPI_INT, all.data(), 1, MPI_INT, ring.comm));
  for (int r = 0; r < ring.size; ++r) CHECK(all[static_cast<std::size_t>(r)] == number(r, ring.rank));
  std::reverse(out.begin(), out.end());
  SUCCEEDS(MPI_Alltoallv_c(out.data(), ones.data(), places.data(), MPI_INT, all.data(), ones.data(),
                           places.data(), MPI_INT, ring.comm));
  for (int r = 0; r < ring.size; ++r) CHECK(all[n - 1 - static_cast<std::size_t>(r)] == number(r, ring.rank));

  const int triangle = ring.size * (ring.size - 1) / 2;
  int sum = -1;
  SUCCEEDS(MPI_Allreduce_c(&ring.rank, &sum, 1, MPI_INT, MPI_SUM, ring.comm));
  CHECK(sum == triangle);
  SUCCEEDS(MPI_Scan_c(&ring.rank, &sum, 1, MPI_INT, MPI_SUM, ring.comm));
  CHECK(sum == ring.rank * (ring.rank + 1) / 2);
  SUCCEEDS(MPI_Exscan_c(&ring.rank, &sum, 1, MPI_INT, MPI_SUM, ring.comm));
  CHECK(ring.rank == 0 || sum == ring.rank * (ring.rank - 1) / 2);
  std::vector<int> mine(n);
  for (int r = 0; r < ring.size; ++r) mine[static_cast<std::size_t>(r)] = number(ring.rank, r);
  const int expected = 1000 * triangle + ring.size * ring.rank;
  SUCCEEDS(MPI_Reduce_scatter_block_c(mine.data(), &sum, 1, MPI_INT, MPI_SUM, ring.comm));
  CHECK(sum == expected);
  SUCCEEDS(MPI_Reduce_scatter_c(mine.data(), &sum, ones.data(), MPI_INT, MPI_SUM, ring.comm));
  CHECK(sum == expected);

  // Member r gets r elements, of which the plain form has its counts as int.
  std::vector<int> counts(n);
  std::iota(counts.begin(), counts.end(), 0);
  std::vector<int> long_one(static_cast<std::size_t>(triangle));
  std::iota(long_one.begin(), long_one.end(), ring.rank);
  std::vector<int> part(n, -1);
  SUCCEEDS(MPI_Reduce_scatter(long_one.data(), part.data(), counts.data(), MPI_INT, MPI_SUM, ring.comm));
  const int first = ring.rank * (ring.rank - 1) / 2;
  for (int i = 0; i < ring.rank; ++i) {
    CHECK(part[static_cast<std::size_t>(i)] == triangle + ring.size * (first + i));
  }
}

/// A block for each member with a type of its own: int for even ones, double for odd ones, at places in
/// bytes.
template <class Integer, class Displacement, class Call>
void all_to_all(const Ring& ring, const Call& call) {
  constexpr std::size_t kPlace = 24;
  const auto n = static_cast<std::size_t>(ring.size);
  const auto type = [&](int a, int b) { return (a + b) % 2 == 0 ? MPI_INT : MPI_DOUBLE; };
  const auto count = [](int from, int to) { return (from + 2 * to) % 3; };
  std::vector<char> out(n * kPlace);
  std::vector<char> in(n * kPlace, 0x55);
  std::vector<Integer> out_counts(n);
  std::vector<Integer> in_counts(n);
  std::vector<Displacement> out_places(n);
  std::vector<Displacement> in_places(n);
  std::vector<MPI_Datatype> types(n);
  for (int r = 0; r < ring.size; ++r) {
    const auto at = static_cast<std::size_t>(r);
    types[at] = type(ring.rank, r);
    out_counts[at] = count(ring.rank, r);
    in_counts[at] = count(r, ring.rank);
    out_places[at] = static_cast<Displacement>(at * kPlace);
    in_places[at] = static_cast<Displacement>((n - 1 - at) * kPlace);
    for (int i = 0; i < out_counts[at]; ++i) {
      const double value = number(ring.rank, r) + 0.5 * i;
      if (types[at] == MPI_INT) {
        reinterpret_cast<int*>(&out[at * kPlace])[i] = number(ring.rank, r) + i;
      } else {
        reinterpret_cast<double*>(&out[at * kPlace])[i] = value;
      }
    }
  }
  SUCCEEDS(call(out.data(), out_counts.data(), out_places.data(), types.data(), in.data(), in_counts.data(),
                in_places.data(), types.data(), ring.comm));
  for (int r = 0; r < ring.size; ++r) {
    const char* const block = &in[(n - 1 - static_cast<std::size_t>(r)) * kPlace];
    for (int i = 0; i < count(r, ring.rank); ++i) {
      if (type(ring.rank, r) == MPI_INT) {
        CHECK(reinterpret_cast<const int*>(block)[i] == number(r, ring.rank) + i);
      } else {
        CHECK(reinterpret_cast<const double*>(block)[i] == number(r, ring.rank) + 0.5 * i);
      }
    }
    const std::size_t used =
        static_cast<std::size_t>(count(r, ring.rank)) * (type(ring.rank, r) == MPI_INT ? 4 : 8);
    CHECK(std::all_of(block + used, block + kPlace, [](char byte) { return byte == 0x55; }));
  }

  // In place: each pair exchanges one number of the same type.
  std::vector<Integer> ones(n, 1);
  std::vector<double> both(n);
  std::vector<Displacement> places(n);
  const std::vector<MPI_Datatype> doubles(n, MPI_DOUBLE);
  for (int r = 0; r < ring.size; ++r) {
    both[static_cast<std::size_t>(r)] = number(ring.rank, r);
    places[static_cast<std::size_t>(r)] =
        static_cast<Displacement>(static_cast<std::size_t>(r) * sizeof(double));
  }
  SUCCEEDS(call(MPI_IN_PLACE, nullptr, nullptr, nullptr, both.data(), ones.data(), places.data(),
                doubles.data(), ring.comm));
  for (int r = 0; r < ring.size; ++r) CHECK(both[static_cast<std::size_t>(r)] == number(r, ring.rank));
}

/// Counts whose bytes do not fit into 64 bits. The product would wrap around to a few bytes.
void beyond(MPI_Comm world) {
  MPI_Comm comm = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_dup(world, &comm));
  SUCCEEDS(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const int rank = mpi_test::rank_in(comm);
  const MPI_Count of_ints = (MPI_Count{1} << 62) + 1;     // 4 bytes too many
  const MPI_Count of_doubles = (MPI_Count{1} << 61) + 1;  // 8 bytes too many
  const MPI_Count part = MPI_Count{1} << 62;
  std::array<double, 8> out = {};
  std::array<double, 8> in = {};
  MPI_Request request = MPI_REQUEST_NULL;
  for (const auto& [count, type] : {std::pair{of_ints, MPI_INT}, std::pair{of_doubles, MPI_DOUBLE}}) {
    CHECK(MPI_Send_c(out.data(), count, type, rank, 0, comm) == MPI_ERR_COUNT);
    CHECK(MPI_Isend_c(out.data(), count, type, rank, 0, comm, &request) == MPI_ERR_COUNT);
    CHECK(MPI_Recv_c(in.data(), count, type, rank, 0, comm, MPI_STATUS_IGNORE) == MPI_ERR_COUNT);
    CHECK(MPI_Irecv_c(in.data(), count, type, rank, 0, comm, &request) == MPI_ERR_COUNT);
    CHECK(MPI_Bcast_c(in.data(), count, type, 0, comm) == MPI_ERR_COUNT);
    CHECK(MPI_Allreduce_c(out.data(), in.data(), count, type, MPI_SUM, comm) == MPI_ERR_COUNT);
    CHECK(MPI_Allgather_c(out.data(), count, type, in.data(), count, type, comm) == MPI_ERR_COUNT);
  }
  // The elements of all members together do not fit.
  const int size = mpi_test::size_of(comm);
  const std::vector<MPI_Count> parts(static_cast<std::size_t>(size), part);
  if (size > 1) {
    CHECK(MPI_Reduce_scatter_block_c(out.data(), in.data(), part, MPI_CHAR, MPI_SUM, comm) == MPI_ERR_COUNT);
    CHECK(MPI_Reduce_scatter_c(out.data(), in.data(), parts.data(), MPI_CHAR, MPI_SUM, comm) ==
          MPI_ERR_COUNT);
  }
  SUCCEEDS(MPI_Comm_free(&comm));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  datatypes();
  beyond(MPI_COMM_WORLD);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    const Ring ring(comm);
    sends(ring);
    receives(ring);
    rooted(ring);
    of_all(ring);
    all_to_all<int, int>(ring, MPI_Alltoallw);
    all_to_all<MPI_Count, MPI_Aint>(ring, MPI_Alltoallw_c);
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
