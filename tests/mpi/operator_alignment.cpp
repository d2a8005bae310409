// Operators get buffers that are aligned as malloc aligns, whatever the type, in every form of every
// reduction. And reductions of elements without data.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

constexpr std::uintptr_t kAlignment = alignof(std::max_align_t);

/// Bytes that follow each other in an element.
struct Part {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t bytes = 0;
};

/// A datatype, and all that the operator has to know of it.
struct Shape {
  const char* name = "";
  std::vector<Part> parts;
  std::ptrdiff_t lower = 0;
  std::ptrdiff_t extent = 0;
  std::ptrdiff_t aligned = 0;  ///< the displacement that is aligned in the first element
  [[nodiscard]] std::ptrdiff_t low(int count) const {
    return parts.front().begin + (extent < 0 ? extent * (count - 1) : 0);
  }
};

// What the operator of the call that is under way checks. Only the thread that makes the call executes it.
const Shape* shape = nullptr;
int calls = 0;
int misaligned = 0;
int whole = 0;  ///< elements of the call; 0 if its pieces may begin anywhere

void add_bytes(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  ++calls;
  // A piece that does not begin with the first element is aligned as that element is in an array.
  if (shape->extent % static_cast<std::ptrdiff_t>(kAlignment) == 0 || *count == whole) {
    for (const void* const buffer : {in, inout}) {
      const auto place =
          reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(shape->aligned);
      if (place % kAlignment != 0) ++misaligned;
    }
  }
  auto* from = static_cast<unsigned char*>(in);
  auto* to = static_cast<unsigned char*>(inout);
  for (int i = 0; i < *count; ++i, from += shape->extent, to += shape->extent) {
    for (const Part& part : shape->parts) {
      for (std::ptrdiff_t at = part.begin; at < part.begin + part.bytes; ++at) {
        to[at] = static_cast<unsigned char>(to[at] + from[at]);
      }
    }
  }
}

/// A buffer of the program, aligned to 64 at the place that is to be aligned. `fill` is in all its bytes.
class Elements {
 public:
  Elements(int count, unsigned char fill) {
    const auto span = static_cast<std::size_t>(shape->extent < 0 ? -shape->extent : shape->extent);
    constexpr std::size_t kRoom = 256;
    memory_.assign(span * static_cast<std::size_t>(count) + 2 * kRoom, fill);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + kRoom / 2;
    const auto before = static_cast<std::uintptr_t>(shape->aligned - shape->low(count > 0 ? count : 1));
    // The aligned place, so far behind the begin that all data are inside.
    const std::uintptr_t place = (begin + before + 63) / 64 * 64;
    origin_ = reinterpret_cast<unsigned char*>(place - static_cast<std::uintptr_t>(shape->aligned));
  }
  [[nodiscard]] void* address() const { return origin_; }
  /// Checks that all bytes of data have this value. Elements that overlap are not checked.
  [[nodiscard]] bool holds(int count, int value) const {
    for (int i = 0; i < count; ++i) {
      for (const Part& part : shape->parts) {
        for (std::ptrdiff_t at = part.begin; at < part.begin + part.bytes; ++at) {
          if (origin_[i * shape->extent + at] != static_cast<unsigned char>(value)) return false;
        }
      }
    }
    return true;
  }

 private:
  std::vector<unsigned char> memory_;
  unsigned char* origin_ = nullptr;
};

enum class Form { kBlocking, kNonblocking, kPersistent };
Form form = Form::kBlocking;

template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
void call(Blocking blocking, Nonblocking nonblocking, Persistent persistent, Arguments... arguments) {
  if (form == Form::kBlocking) {
    SUCCEEDS(blocking(arguments...));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == Form::kNonblocking) {
    SUCCEEDS(nonblocking(arguments..., &request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return;
  }
  SUCCEEDS(persistent(arguments..., MPI_INFO_NULL, &request));
  SUCCEEDS(MPI_Start(&request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Request_free(&request));
}
#define CALL(name, nonblocking, ...) call(MPI_##name, MPI_##nonblocking, MPI_##name##_init, __VA_ARGS__)

/// Checks all reductions of `count` elements. Elements that overlap are added several times where they do, so
/// only the alignment is checked then.
void reductions(MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count, bool overlap) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const auto holds = [&](const Elements& result, int elements, int value) {
    return overlap || result.holds(elements, value);
  };
  const Elements mine(count, 3);
  whole = count;
  const Elements all(count, 0);
  CALL(Allreduce, Iallreduce, mine.address(), all.address(), count, type, op, comm);
  CHECK(holds(all, count, 3 * size));
  const Elements at_root(count, 0);
  CALL(Reduce, Ireduce, mine.address(), at_root.address(), count, type, op, size - 1, comm);
  CHECK(rank != size - 1 || holds(at_root, count, 3 * size));
  const Elements here(count, 3);
  CALL(Allreduce, Iallreduce, MPI_IN_PLACE, here.address(), count, type, op, comm);
  CHECK(holds(here, count, 3 * size));
  const Elements up_to(count, 0);
  CALL(Scan, Iscan, mine.address(), up_to.address(), count, type, op, comm);
  CHECK(holds(up_to, count, 3 * (rank + 1)));
  const Elements before(count, 0);
  CALL(Exscan, Iexscan, mine.address(), before.address(), count, type, op, comm);
  CHECK(rank == 0 || holds(before, count, 3 * rank));
  // Blocks begin at any element.
  whole = 0;
  const Elements every(count * size, 3);
  const Elements block(count, 0);
  CALL(Reduce_scatter_block, Ireduce_scatter_block, every.address(), block.address(), count, type, op, comm);
  CHECK(holds(block, count, 3 * size));
  // The first block has the elements of the last one too.
  std::vector<int> counts(static_cast<std::size_t>(size), count);
  if (size > 1) {
    counts[0] += count;
    counts[static_cast<std::size_t>(size) - 1] = 0;
  }
  const int own = counts[static_cast<std::size_t>(rank)];
  const Elements uneven(own, 0);
  CALL(Reduce_scatter, Ireduce_scatter, every.address(), uneven.address(), counts.data(), type, op, comm);
  CHECK(holds(uneven, own, 3 * size));
}

/// Checks one datatype, whose parts are given in the order of displacements.
void check(Shape each, bool resized, bool overlap = false) {
  shape = &each;
  std::vector<int> lengths;
  std::vector<MPI_Aint> begins;
  for (const Part& part : each.parts) {
    lengths.push_back(static_cast<int>(part.bytes));
    begins.push_back(part.begin);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), begins.data(), MPI_BYTE,
                                    &type));
  if (resized) {
    MPI_Datatype plain = type;
    SUCCEEDS(MPI_Type_create_resized(plain, each.lower, each.extent, &type));
    SUCCEEDS(MPI_Type_free(&plain));
  }
  SUCCEEDS(MPI_Type_commit(&type));
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  SUCCEEDS(MPI_Type_get_extent(type, &lower, &extent));
  CHECK(lower == each.lower && extent == each.extent);
  for (const int commutes : {0, 1}) {
    MPI_Op op = MPI_OP_NULL;
    SUCCEEDS(MPI_Op_create(add_bytes, commutes, &op));
    calls = 0;
    misaligned = 0;
    for (const int count : {1, 2, 3, 7, 33, 700}) {
      for (const Form one : {Form::kBlocking, Form::kNonblocking, Form::kPersistent}) {
        form = one;
        reductions(MPI_COMM_WORLD, type, op, count, overlap);
      }
    }
    if (misaligned != 0) std::fprintf(stderr, "%s: %d of %d calls\n", each.name, misaligned, calls);
    CHECK(misaligned == 0);
    int all_calls = 0;
    SUCCEEDS(MPI_Allreduce(&calls, &all_calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all_calls > 0 || size_of(MPI_COMM_WORLD) == 1);
    const Elements in(5, 1);
    const Elements inout(5, 2);
    whole = 5;
    SUCCEEDS(MPI_Reduce_local(in.address(), inout.address(), 5, type, op));
    CHECK(overlap || inout.holds(5, 3));
    CHECK(misaligned == 0);
    SUCCEEDS(MPI_Op_free(&op));
  }
  SUCCEEDS(MPI_Type_free(&type));
}

#ifdef __SIZEOF_FLOAT128__
__extension__ using Real16 = __float128;

/// The predefined operators on numbers of 16 and 32 bytes, also where the program has misaligned ones.
void quadruple_precision() {
  const int size = size_of(MPI_COMM_WORLD);
  for (const int count : {1, 2, 3, 5, 100, 3000}) {
    const auto bytes = static_cast<std::size_t>(count) * 2 * sizeof(Real16);
    for (const std::size_t shift : std::array<std::size_t, 3>{0, 8, 1}) {
      std::vector<std::byte> mine(bytes + 16);
      std::vector<std::byte> sum(bytes + 16);
      for (int i = 0; i < 2 * count; ++i) {
        const Real16 number = i + 1;
        std::memcpy(mine.data() + shift + static_cast<std::size_t>(i) * sizeof number, &number,
                    sizeof number);
      }
      const auto holds = [&] {
        for (int i = 0; i < count; ++i) {
          Real16 number = 0;
          std::memcpy(&number, sum.data() + shift + static_cast<std::size_t>(i) * sizeof number,
                      sizeof number);
          if (number != static_cast<Real16>(size) * (i + 1)) return false;
        }
        return true;
      };
      for (const Form one : {Form::kBlocking, Form::kNonblocking, Form::kPersistent}) {
        form = one;
        std::fill(sum.begin(), sum.end(), std::byte{0});
        CALL(Allreduce, Iallreduce, mine.data() + shift, sum.data() + shift, count, MPI_REAL16, MPI_SUM,
             MPI_COMM_WORLD);
        CHECK(holds());
        std::fill(sum.begin(), sum.end(), std::byte{0});
        CALL(Allreduce, Iallreduce, mine.data() + shift, sum.data() + shift, count, MPI_COMPLEX32, MPI_SUM,
             MPI_COMM_WORLD);
        CHECK(holds());
        CALL(Scan, Iscan, mine.data() + shift, sum.data() + shift, count, MPI_REAL16, MPI_MAX,
             MPI_COMM_WORLD);
        CHECK(std::memcmp(mine.data() + shift, sum.data() + shift, bytes / 2) == 0);
      }
    }
  }
  Real16 mine = 2;
  Real16 all = 0;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create(&all, sizeof all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_fence(0, win));
  SUCCEEDS(MPI_Accumulate(&mine, 1, MPI_REAL16, 0, 0, 1, MPI_REAL16, MPI_SUM, win));
  SUCCEEDS(MPI_Win_fence(0, win));
  CHECK(rank_in(MPI_COMM_WORLD) != 0 || all == 2 * static_cast<Real16>(size));
  SUCCEEDS(MPI_Win_free(&win));
}
#else
void quadruple_precision() {}
#endif

/// Reductions of elements without data succeed and change nothing. An operator of the program may combine any
/// type.
void empty_elements() {
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(0, MPI_INT, &none));
  SUCCEEDS(MPI_Type_create_resized(none, -4, 24, &wide));
  for (MPI_Datatype* const type : {&none, &wide}) {
    SUCCEEDS(MPI_Type_commit(type));
    for (const int commutes : {0, 1}) {
      MPI_Op op = MPI_OP_NULL;
      SUCCEEDS(MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, commutes, &op));
      for (const Form one : {Form::kBlocking, Form::kNonblocking, Form::kPersistent}) {
        form = one;
        std::array<int, 64> mine;
        std::array<int, 64> result;
        mine.fill(1);
        result.fill(2);
        std::vector<int> counts(static_cast<std::size_t>(size), 1);
        for (const int count : {0, 1, 2}) {
          CALL(Allreduce, Iallreduce, &mine[8], &result[8], count, *type, op, MPI_COMM_WORLD);
          CALL(Allreduce, Iallreduce, MPI_IN_PLACE, &result[8], count, *type, op, MPI_COMM_WORLD);
          CALL(Reduce, Ireduce, &mine[8], &result[8], count, *type, op, size - 1, MPI_COMM_WORLD);
          CALL(Scan, Iscan, &mine[8], &result[8], count, *type, op, MPI_COMM_WORLD);
          CALL(Exscan, Iexscan, &mine[8], &result[8], count, *type, op, MPI_COMM_WORLD);
          CALL(Reduce_scatter_block, Ireduce_scatter_block, &mine[8], &result[8], count, *type, op,
               MPI_COMM_WORLD);
          CALL(Reduce_scatter, Ireduce_scatter, &mine[8], &result[8], counts.data(), *type, op,
               MPI_COMM_WORLD);
          SUCCEEDS(MPI_Reduce_local(&mine[8], &result[8], count, *type, op));
        }
        CALL(Allreduce, Iallreduce, nullptr, nullptr, 3, *type, op, MPI_COMM_WORLD);
        CHECK(std::all_of(result.begin(), result.end(), [](int number) { return number == 2; }));
      }
      SUCCEEDS(MPI_Op_free(&op));
    }
    int one = 1;
    int other = 2;
    CHECK(MPI_Reduce_local(&one, &other, 1, *type, MPI_SUM) == MPI_ERR_OP);
  }
  SUCCEEDS(MPI_Type_free(&none));
  SUCCEEDS(MPI_Type_free(&wide));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check({.name = "two doubles", .parts = {{0, 16}}, .extent = 16}, false);
  check({.name = "24 bytes", .parts = {{0, 24}}, .extent = 24}, false);
  check({.name = "odd extent", .parts = {{0, 5}}, .extent = 5}, false);
  check({.name = "40 bytes", .parts = {{0, 40}}, .extent = 40}, false);
  check({.name = "a structure with holes", .parts = {{0, 4}, {16, 16}}, .extent = 32}, true);
  check({.name = "a structure whose first members do not travel", .parts = {{8, 24}}, .extent = 32}, true);
  check({.name = "data before the address", .parts = {{-8, 16}}, .lower = -8, .extent = 16, .aligned = -8},
        false);
  check({.name = "a lower bound before the data", .parts = {{0, 16}}, .lower = -8, .extent = 32}, true);
  check({.name = "data behind the address", .parts = {{40, 16}}, .lower = 40, .extent = 16, .aligned = 40},
        false);
  check({.name = "elements that overlap", .parts = {{-8, 32}}, .lower = -8, .extent = 16, .aligned = -8},
        true, true);
  check({.name = "backwards", .parts = {{0, 16}}, .lower = 0, .extent = -16}, true);
  quadruple_precision();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  empty_elements();
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
