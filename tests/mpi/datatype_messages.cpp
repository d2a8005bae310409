// Derived datatypes in sends and receives of every kind.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

/// A datatype over an array of int, and the indices that it selects, in order.
struct Part {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> indices;
  int array = 0;  // the length of the array
};

/// A column of a matrix: librma moves it as a strided layout.
Part column(int rows, int columns) {
  Part part;
  part.array = rows * columns;
  for (int i = 0; i < rows; ++i) part.indices.push_back(i * columns);
  SUCCEEDS(MPI_Type_vector(rows, 1, columns, MPI_INT, &part.type));
  SUCCEEDS(MPI_Type_commit(&part.type));
  return part;
}

/// The upper triangle of a matrix, by rows: librma moves it as a vector layout.
Part triangle(int rows) {
  Part part;
  part.array = rows * rows;
  std::vector<int> lengths;
  std::vector<int> places;
  for (int i = 0; i < rows; ++i) {
    lengths.push_back(rows - i);
    places.push_back(i * rows + i);
    for (int j = i; j < rows; ++j) part.indices.push_back(i * rows + j);
  }
  SUCCEEDS(MPI_Type_indexed(rows, lengths.data(), places.data(), MPI_INT, &part.type));
  SUCCEEDS(MPI_Type_commit(&part.type));
  return part;
}

/// So many single numbers at irregular distances that the library packs them.
Part scattered() {
  constexpr int kNumbers = 70000;
  Part part;
  std::vector<int> places;
  int place = 0;
  for (int i = 0; i < kNumbers; ++i) {
    place += 2 + i % 3;
    places.push_back(place);
  }
  part.array = place + 1;
  part.indices = places;
  SUCCEEDS(MPI_Type_create_indexed_block(kNumbers, 1, places.data(), MPI_INT, &part.type));
  SUCCEEDS(MPI_Type_commit(&part.type));
  return part;
}

/// The neighbours of this rank in a ring, and the arrays that it sends and receives.
class Exchange {
 public:
  explicit Exchange(const Part& selected)
      : part(selected),
        rank(rank_in(MPI_COMM_WORLD)),
        next((rank + 1) % size_of(MPI_COMM_WORLD)),
        previous((rank + size_of(MPI_COMM_WORLD) - 1) % size_of(MPI_COMM_WORLD)),
        out(numbers(rank)),
        in(static_cast<std::size_t>(part.array), -1) {}

  /// Checks that the selected numbers of the previous rank have come, and nothing else has changed.
  void check(const MPI_Status& status) {
    const std::vector<int> theirs = numbers(previous);
    std::vector<int> expected(in.size(), -1);
    for (const int index : part.indices) {
      const auto at = static_cast<std::size_t>(index);
      expected[at] = theirs[at];
    }
    check_as(expected, status);
  }
  void check_as(const std::vector<int>& expected, const MPI_Status& status) {
    CHECK(in == expected);
    int count = -1;
    CHECK(status.MPI_SOURCE == previous);
    SUCCEEDS(MPI_Get_count(&status, part.type, &count));
    CHECK(count == 1);
    SUCCEEDS(MPI_Get_elements(&status, part.type, &count));
    CHECK(count == static_cast<int>(part.indices.size()));
  }
  [[nodiscard]] std::vector<int> numbers(int of) const {
    std::vector<int> all(static_cast<std::size_t>(part.array));
    std::iota(all.begin(), all.end(), 1000000 * of);
    return all;
  }

  const Part& part;
  int rank;
  int next;
  int previous;
  std::vector<int> out;
  std::vector<int> in;
};

/// Receives what `send` sends to the next rank. The receive is posted before.
void passes(const Part& part, const std::function<void(Exchange&)>& send) {
  Exchange exchange(part);
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Status status;
  SUCCEEDS(MPI_Irecv(exchange.in.data(), 1, part.type, exchange.previous, 1, MPI_COMM_WORLD, &receive));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  send(exchange);
  SUCCEEDS(MPI_Wait(&receive, &status));
  exchange.check(status);
}

void sends(const Part& part) {
  for (const auto send : {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend}) {
    passes(part, [&](Exchange& exchange) {
      SUCCEEDS(send(exchange.out.data(), 1, part.type, exchange.next, 1, MPI_COMM_WORLD));
    });
  }
  for (const auto start : {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend}) {
    passes(part, [&](Exchange& exchange) {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(start(exchange.out.data(), 1, part.type, exchange.next, 1, MPI_COMM_WORLD, &request));
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    });
  }
}

void persistent(const Part& part) {
  for (const auto make : {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init}) {
    Exchange exchange(part);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::array<MPI_Request, 2> requests = {};
    // The requests keep the type, which the program frees before they are started.
    SUCCEEDS(MPI_Type_dup(part.type, &type));
    SUCCEEDS(MPI_Recv_init(exchange.in.data(), 1, type, exchange.previous, 2, MPI_COMM_WORLD, &requests[0]));
    SUCCEEDS(make(exchange.out.data(), 1, type, exchange.next, 2, MPI_COMM_WORLD, &requests[1]));
    SUCCEEDS(MPI_Type_free(&type));
    for (int round = 0; round < 2; ++round) {
      std::array<MPI_Status, 2> statuses;
      std::ranges::fill(exchange.in, -1);
      SUCCEEDS(MPI_Start(&requests[0]));
      SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
      SUCCEEDS(MPI_Start(&requests[1]));
      SUCCEEDS(MPI_Waitall(2, requests.data(), statuses.data()));
      exchange.check(statuses[0]);
    }
    for (MPI_Request& request : requests) SUCCEEDS(MPI_Request_free(&request));
  }
}

void matched(const Part& part) {
  for (const bool blocking : {false, true}) {
    Exchange exchange(part);
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    SUCCEEDS(MPI_Isend(exchange.out.data(), 1, part.type, exchange.next, 3, MPI_COMM_WORLD, &sent));
    SUCCEEDS(MPI_Mprobe(exchange.previous, 3, MPI_COMM_WORLD, &message, &status));
    int count = -1;
    SUCCEEDS(MPI_Get_elements(&status, part.type, &count));
    CHECK(count == static_cast<int>(part.indices.size()));
    if (blocking) {
      SUCCEEDS(MPI_Mrecv(exchange.in.data(), 1, part.type, &message, &status));
    } else {
      MPI_Request received = MPI_REQUEST_NULL;
      SUCCEEDS(MPI_Imrecv(exchange.in.data(), 1, part.type, &message, &received));
      SUCCEEDS(MPI_Wait(&received, &status));
    }
    exchange.check(status);
    SUCCEEDS(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  }
}

void exchanges(const Part& part) {
  MPI_Status status;
  {
    Exchange exchange(part);
    SUCCEEDS(MPI_Sendrecv(exchange.out.data(), 1, part.type, exchange.next, 4, exchange.in.data(), 1,
                          part.type, exchange.previous, 4, MPI_COMM_WORLD, &status));
    exchange.check(status);
  }
  {
    Exchange exchange(part);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Isendrecv(exchange.out.data(), 1, part.type, exchange.next, 5, exchange.in.data(), 1,
                           part.type, exchange.previous, 5, MPI_COMM_WORLD, &request));
    SUCCEEDS(MPI_Wait(&request, &status));
    exchange.check(status);
  }
  for (const bool blocking : {false, true}) {
    Exchange exchange(part);
    exchange.in = exchange.out;
    const std::vector<int> theirs = exchange.numbers(exchange.previous);
    std::vector<int> expected = exchange.out;
    for (const int index : part.indices) {
      const auto at = static_cast<std::size_t>(index);
      expected[at] = theirs[at];
    }
    if (blocking) {
      SUCCEEDS(MPI_Sendrecv_replace(exchange.in.data(), 1, part.type, exchange.next, 6, exchange.previous, 6,
                                    MPI_COMM_WORLD, &status));
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(MPI_Isendrecv_replace(exchange.in.data(), 1, part.type, exchange.next, 6, exchange.previous, 6,
                                     MPI_COMM_WORLD, &request));
      SUCCEEDS(MPI_Wait(&request, &status));
    }
    exchange.check_as(expected, status);
  }
}

/// One side has the part, and the other side contiguous numbers or packed bytes. The type is freed while the
/// receive goes on.
void other_layouts(const Part& part) {
  Exchange exchange(part);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Status status;
  std::vector<int> selected;
  for (const int index : part.indices) selected.push_back(exchange.out[static_cast<std::size_t>(index)]);
  const int count = static_cast<int>(selected.size());
  SUCCEEDS(MPI_Type_dup(part.type, &type));
  SUCCEEDS(MPI_Irecv(exchange.in.data(), 1, type, exchange.previous, 8, MPI_COMM_WORLD, &receive));
  SUCCEEDS(MPI_Type_free(&type));
  SUCCEEDS(MPI_Send(selected.data(), count, MPI_INT, exchange.next, 8, MPI_COMM_WORLD));
  SUCCEEDS(MPI_Wait(&receive, &status));
  exchange.check(status);

  std::vector<int> contiguous(selected.size());
  SUCCEEDS(MPI_Irecv(contiguous.data(), count, MPI_INT, exchange.previous, 9, MPI_COMM_WORLD, &receive));
  SUCCEEDS(MPI_Send(exchange.out.data(), 1, part.type, exchange.next, 9, MPI_COMM_WORLD));
  SUCCEEDS(MPI_Wait(&receive, &status));
  const std::vector<int> theirs = exchange.numbers(exchange.previous);
  std::vector<int> expected;
  for (const int index : part.indices) expected.push_back(theirs[static_cast<std::size_t>(index)]);
  CHECK(contiguous == expected);
}

/// Displacements that are addresses, from MPI_BOTTOM.
void absolute_addresses() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  int first = 10 * rank;
  double second = rank + 0.5;
  int first_in = -1;
  double second_in = -1;
  const auto type_of = [](int* one, double* two) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const std::array lengths = {1, 1};
    const std::array types = {MPI_INT, MPI_DOUBLE};
    std::array<MPI_Aint, 2> addresses = {};
    SUCCEEDS(MPI_Get_address(one, &addresses[0]));
    SUCCEEDS(MPI_Get_address(two, &addresses[1]));
    SUCCEEDS(MPI_Type_create_struct(2, lengths.data(), addresses.data(), types.data(), &type));
    SUCCEEDS(MPI_Type_commit(&type));
    return type;
  };
  MPI_Datatype out = type_of(&first, &second);
  MPI_Datatype in = type_of(&first_in, &second_in);
  const int previous = (rank + size - 1) % size;
  SUCCEEDS(MPI_Sendrecv(MPI_BOTTOM, 1, out, (rank + 1) % size, 1, MPI_BOTTOM, 1, in, previous, 1,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(first_in == 10 * previous && second_in == previous + 0.5);
  SUCCEEDS(MPI_Bcast(MPI_BOTTOM, 1, rank == 0 ? out : in, 0, MPI_COMM_WORLD));
  if (rank != 0) CHECK(first_in == 0 && second_in == 0.5);
  SUCCEEDS(MPI_Type_free(&out));
  SUCCEEDS(MPI_Type_free(&in));
}

/// A pair with padding, and a struct of the program with its signature, are one for a message.
void pairs() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  struct Mine {
    int index;
    double value;
  };
  struct Theirs {
    double value;
    int index;
  };
  const std::array lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {offsetof(Mine, value), offsetof(Mine, index)};
  const std::array types = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype sized = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type));
  SUCCEEDS(MPI_Type_create_resized(type, 0, sizeof(Mine), &sized));
  SUCCEEDS(MPI_Type_commit(&sized));
  const std::array<Mine, 2> out = {Mine{rank, 1.5 * rank}, Mine{rank + 1, -1.5}};
  std::array<Theirs, 2> in = {};
  const int previous = (rank + size - 1) % size;
  MPI_Status status;
  SUCCEEDS(MPI_Sendrecv(out.data(), 2, sized, (rank + 1) % size, 1, in.data(), 2, MPI_DOUBLE_INT, previous, 1,
                        MPI_COMM_WORLD, &status));
  CHECK(in[0].value == 1.5 * previous && in[0].index == previous);
  CHECK(in[1].value == -1.5 && in[1].index == previous + 1);
  int count = -1;
  SUCCEEDS(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
  CHECK(count == 2);
  SUCCEEDS(MPI_Type_free(&type));
  SUCCEEDS(MPI_Type_free(&sized));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<char> memory(std::size_t{1} << 22U);
  SUCCEEDS(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  std::vector<Part> parts = {column(10, 6), column(3000, 5), triangle(9), triangle(120), scattered()};
  for (Part& part : parts) {
    sends(part);
    persistent(part);
    matched(part);
    exchanges(part);
    other_layouts(part);
    SUCCEEDS(MPI_Type_free(&part.type));
  }
  absolute_addresses();
  pairs();
  void* detached = nullptr;
  int size = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &size));
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
