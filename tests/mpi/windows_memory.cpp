// The memory of windows: loads and stores in shared ones, attached pieces of dynamic ones, parts of different
// sizes, and the calls with large counts.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "rma/direct.h"

#include "window_case.hpp"

namespace {

using namespace mpi_test;

/// Member r has r % 3 pages. By default the parts follow each other.
void shared_parts(bool contiguous) {
  constexpr MPI_Aint kPart = 4096;
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true"));
  MPI_Win win = MPI_WIN_NULL;
  int* mine = nullptr;
  SUCCEEDS(MPI_Win_allocate_shared(kPart * (rank % 3), sizeof(int), info, MPI_COMM_WORLD,
                                   static_cast<void*>(&mine), &win));
  SUCCEEDS(MPI_Info_free(&info));
  std::vector<int*> parts(static_cast<std::size_t>(size));
  int first = -1;
  SUCCEEDS(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  for (int member = 0; member < size; ++member) {
    MPI_Aint bytes = -1;
    MPI_Aint unit = -1;
    void* base = nullptr;
    SUCCEEDS(MPI_Win_shared_query_c(win, member, &bytes, &unit, &base));
    CHECK(bytes == kPart * (member % 3) && unit == sizeof(int));
    parts[static_cast<std::size_t>(member)] = static_cast<int*>(base);
    if (first < 0 && bytes > 0) first = member;
  }
  MPI_Aint before = 0;
  for (int member = 0; member < size; ++member) {
    const int* const part = parts[static_cast<std::size_t>(member)];
    // Without the hint the parts follow each other, so that empty ones lie between their neighbours.
    if (contiguous && first >= 0) {
      CHECK(part == parts[0] + before / static_cast<MPI_Aint>(sizeof(int)));
    } else {
      CHECK((part == nullptr) == (member % 3 == 0));
    }
    before += kPart * (member % 3);
  }
  CHECK(parts[static_cast<std::size_t>(rank)] == mine);
  if (first >= 0) {
    MPI_Aint bytes = -1;
    int unit = -1;
    void* base = nullptr;
    SUCCEEDS(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base));
    CHECK(base == parts[static_cast<std::size_t>(first)] && bytes == kPart && unit == sizeof(int));
  }
  // Every rank stores into a place of its own in every part, and reads the others' by loads and by gets.
  for (int member = 0; member < size; ++member) {
    if (member % 3 != 0) parts[static_cast<std::size_t>(member)][rank] = 1000 * member + rank;
  }
  SUCCEEDS(MPI_Win_sync(win));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_Win_sync(win));
  for (int member = 0; member < size; ++member) {
    if (member % 3 == 0) continue;
    std::vector<int> got(static_cast<std::size_t>(size), -1);
    SUCCEEDS(MPI_Get(got.data(), size, MPI_INT, member, 0, size, MPI_INT, win));
    SUCCEEDS(MPI_Win_flush(member, win));
    for (int other = 0; other < size; ++other) {
      CHECK(parts[static_cast<std::size_t>(member)][other] == 1000 * member + other);
      CHECK(got[static_cast<std::size_t>(other)] == 1000 * member + other);
    }
  }
  SUCCEEDS(MPI_Win_unlock_all(win));
  SUCCEEDS(MPI_Win_free(&win));
}

/// Pieces of the stack, of the library's memory and of the program's heap, which come and go.
void attached_pieces() {
  constexpr int kInts = 300;
  const Ring ring(MPI_COMM_WORLD);
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  std::array<int, kInts> stack = {};
  std::vector<int> heap(kInts);
  int* library = nullptr;
  SUCCEEDS(MPI_Alloc_mem(kInts * sizeof(int), MPI_INFO_NULL, static_cast<void*>(&library)));
  std::fill_n(library, kInts, 0);
  const std::array<int*, 3> pieces = {stack.data(), heap.data(), library};
  std::array<MPI_Aint, 3> mine = {};
  std::array<MPI_Aint, 3> theirs = {};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    SUCCEEDS(MPI_Win_attach(win, pieces[i], kInts * sizeof(int)));
    SUCCEEDS(MPI_Get_address(pieces[i], &mine[i]));
  }
  SUCCEEDS(MPI_Win_attach(win, nullptr, 0));
  SUCCEEDS(MPI_Sendrecv(mine.data(), 3, MPI_AINT, ring.previous, 0, theirs.data(), 3, MPI_AINT, ring.next, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  std::vector<int> values(kInts);
  std::iota(values.begin(), values.end(), 1000 * ring.rank);
  SUCCEEDS(MPI_Win_fence(0, win));
  for (const MPI_Aint base : theirs) {
    SUCCEEDS(MPI_Put(values.data(), kInts / 2, MPI_INT, ring.next, base, kInts / 2, MPI_INT, win));
    SUCCEEDS(MPI_Accumulate(values.data() + kInts / 2, kInts / 2, MPI_INT, ring.next,
                            MPI_Aint_add(base, kInts / 2 * sizeof(int)), kInts / 2, MPI_INT, MPI_SUM, win));
  }
  SUCCEEDS(MPI_Win_fence(0, win));
  std::iota(values.begin(), values.end(), 1000 * ring.previous);
  for (const int* const piece : pieces) CHECK(std::equal(values.begin(), values.end(), piece));
  for (int* const piece : pieces) SUCCEEDS(MPI_Win_detach(win, piece));
  SUCCEEDS(MPI_Win_fence(0, win));
  // The pieces of other processes that are attached no more.
  int got = -1;
  if (ring.size > 1) {
    CHECK(MPI_Get(&got, 1, MPI_INT, ring.next, theirs[1], 1, MPI_INT, win) == MPI_ERR_RMA_RANGE);
    CHECK(MPI_Accumulate(&got, 1, MPI_INT, ring.next, theirs[1], 1, MPI_INT, MPI_SUM, win) ==
          MPI_ERR_RMA_RANGE);
  }
  SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  // A window detaches what is left.
  SUCCEEDS(MPI_Win_attach(win, heap.data(), kInts * sizeof(int)));
  SUCCEEDS(MPI_Win_free(&win));
  SUCCEEDS(MPI_Free_mem(library));
}

/// The memory of a dynamic window that several attached pieces make up together.
enum class Place { kMalloc, kLibrary, kStatic, kBehindHeap };
constexpr int kSpanInts = 2048;  // two pages
alignas(4096) std::array<int, kSpanInts> static_ints;

/// Two pages of which the first is the last of this rank's heap, and the second is the program's.
class PagesAtTheHeapsEnd {
 public:
  PagesAtTheHeapsEnd() {
    const rma_direct_peer_t& own = rma_direct.peers[rank_in(MPI_COMM_WORLD)];
    // The address is one of this process: its own heap.
    end_ = reinterpret_cast<std::byte*>(own.base + own.bytes);
    remap(PROT_READ | PROT_WRITE);
  }
  ~PagesAtTheHeapsEnd() { remap(PROT_NONE); }
  PagesAtTheHeapsEnd(const PagesAtTheHeapsEnd&) = delete;
  PagesAtTheHeapsEnd& operator=(const PagesAtTheHeapsEnd&) = delete;
  [[nodiscard]] int* ints() const { return reinterpret_cast<int*>(end_ - kPage); }

 private:
  static constexpr std::size_t kPage = 4096;
  /// Puts the program's page where the library keeps one that nobody may access.
  void remap(int protection) const {
    CHECK(mmap(end_, kPage, protection, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == end_);
  }
  std::byte* end_;
};

/// One of the calls that access memory, at random places of the memory of the next rank, and what it should
/// do there.
class SpanningCalls {
 public:
  SpanningCalls(MPI_Win win, int target, MPI_Aint base, unsigned seed)
      : win_(win), target_(target), base_(base), random_(seed), model_(kSpanInts) {
    SUCCEEDS(MPI_Type_vector(kBlocks, 1, 3, MPI_INT, &every_third_));
    SUCCEEDS(MPI_Type_commit(&every_third_));
  }
  ~SpanningCalls() { SUCCEEDS(MPI_Type_free(&every_third_)); }
  SpanningCalls(const SpanningCalls&) = delete;
  SpanningCalls& operator=(const SpanningCalls&) = delete;
  [[nodiscard]] const std::vector<int>& model() const { return model_; }

  void make_one() {
    const int first = static_cast<int>(random_() % (kSpanInts - 64));
    const int most = kSpanInts - first;
    const int count = 1 + static_cast<int>(random_() % static_cast<unsigned>(most));
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int& value : values) value = static_cast<int>(random_() % 1000);
    std::vector<int> got(values.size(), -1);
    const std::vector<int> old(model_.begin() + first, model_.begin() + first + count);
    const MPI_Aint at = base_ + first * static_cast<MPI_Aint>(sizeof(int));
    const auto in_model = std::span(model_).subspan(static_cast<std::size_t>(first), values.size());
    int fetched = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (random_() % 9) {
      case 0:
        SUCCEEDS(MPI_Put(values.data(), count, MPI_INT, target_, at, count, MPI_INT, win_));
        std::ranges::copy(values, in_model.begin());
        break;
      case 1:
        SUCCEEDS(MPI_Rput(values.data(), count, MPI_INT, target_, at, count, MPI_INT, win_, &request));
        SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        std::ranges::copy(values, in_model.begin());
        break;
      case 2:
        SUCCEEDS(MPI_Get(got.data(), count, MPI_INT, target_, at, count, MPI_INT, win_));
        fetched = count;
        break;
      case 3:
        SUCCEEDS(MPI_Rget(got.data(), count, MPI_INT, target_, at, count, MPI_INT, win_, &request));
        SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        fetched = count;
        break;
      case 4:
        SUCCEEDS(MPI_Accumulate(values.data(), count, MPI_INT, target_, at, count, MPI_INT, MPI_SUM, win_));
        for (std::size_t i = 0; i < values.size(); ++i) in_model[i] += values[i];
        break;
      case 5:
        SUCCEEDS(MPI_Get_accumulate(values.data(), count, MPI_INT, got.data(), count, MPI_INT, target_, at,
                                    count, MPI_INT, MPI_REPLACE, win_));
        std::ranges::copy(values, in_model.begin());
        fetched = count;
        break;
      case 6:
        // Elements of 2 bytes, which are no words.
        SUCCEEDS(MPI_Accumulate(values.data(), 2 * count, MPI_SHORT, target_, at, 2 * count, MPI_SHORT,
                                MPI_BXOR, win_));
        for (std::size_t i = 0; i < values.size(); ++i) in_model[i] ^= values[i];
        break;
      case 7:
        if (count < kBlocks || most < 3 * kBlocks) break;
        SUCCEEDS(MPI_Put(values.data(), kBlocks, MPI_INT, target_, at, 1, every_third_, win_));
        for (int i = 0; i < kBlocks; ++i)
          model_[static_cast<std::size_t>(first + 3 * i)] = values[static_cast<std::size_t>(i)];
        break;
      default:
        SUCCEEDS(MPI_Fetch_and_op(values.data(), got.data(), MPI_INT, target_, at, MPI_SUM, win_));
        in_model[0] += values[0];
        fetched = 1;
    }
    SUCCEEDS(MPI_Win_flush(target_, win_));
    CHECK(std::equal(old.begin(), old.begin() + fetched, got.begin()));
  }

 private:
  static constexpr int kBlocks = 20;

  const MPI_Win win_;
  const int target_;
  const MPI_Aint base_;
  std::mt19937 random_;
  std::vector<int> model_;
  MPI_Datatype every_third_ = MPI_DATATYPE_NULL;
};

/// Accesses memory that several attached pieces make up together, whose borders lie anywhere.
void span_pieces(Place place, unsigned seed) {
  const Ring ring(MPI_COMM_WORLD);
  std::mt19937 random(seed + static_cast<unsigned>(ring.rank));
  std::vector<int> malloc_ints(kSpanInts);
  std::optional<PagesAtTheHeapsEnd> pages;
  int* ints = nullptr;
  if (place == Place::kMalloc) ints = malloc_ints.data();
  if (place == Place::kStatic) ints = static_ints.data();
  if (place == Place::kLibrary)
    SUCCEEDS(MPI_Alloc_mem(kSpanInts * sizeof(int), MPI_INFO_NULL, static_cast<void*>(&ints)));
  if (place == Place::kBehindHeap) ints = pages.emplace().ints();
  std::fill_n(ints, kSpanInts, 0);
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  // A border at the middle, so that a piece ends where the heap does; the others divide integers as well.
  constexpr int kBytes = kSpanInts * static_cast<int>(sizeof(int));
  std::vector<int> borders = {0, kBytes / 2, kBytes};
  for (int i = 0; i < 6; ++i) borders.push_back(static_cast<int>(random() % kBytes));
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<std::size_t> order(borders.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  auto* const bytes = reinterpret_cast<std::byte*>(ints);
  for (const std::size_t i : order)
    SUCCEEDS(MPI_Win_attach(win, bytes + borders[i], borders[i + 1] - borders[i]));
  MPI_Aint mine = 0;
  MPI_Aint theirs = 0;
  SUCCEEDS(MPI_Get_address(ints, &mine));
  SUCCEEDS(MPI_Sendrecv(&mine, 1, MPI_AINT, ring.previous, 0, &theirs, 1, MPI_AINT, ring.next, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Win_lock_all(0, win));
  SpanningCalls calls(win, ring.next, theirs, seed);
  // Between hosts each element of an accumulate is an operation of its own.
  const int rounds = on_one_host() ? 120 : 8;
  for (int i = 0; i < rounds; ++i) calls.make_one();
  SUCCEEDS(MPI_Win_unlock_all(win));
  std::vector<int> expected(kSpanInts);
  SUCCEEDS(MPI_Sendrecv(calls.model().data(), kSpanInts, MPI_INT, ring.next, 1, expected.data(), kSpanInts,
                        MPI_INT, ring.previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(std::equal(expected.begin(), expected.end(), ints));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  // Without the last piece, calls that need it are refused, and move nothing.
  SUCCEEDS(MPI_Win_detach(win, bytes + borders[borders.size() - 2]));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  if (place != Place::kLibrary && ring.size > 1) {
    SUCCEEDS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ring.next, 0, win));
    const std::vector<short> values(2 * kSpanInts, 3);
    std::vector<short> got(values.size());
    const int count = 2 * kSpanInts;
    CHECK(MPI_Put(values.data(), count, MPI_SHORT, ring.next, theirs, count, MPI_SHORT, win) ==
          MPI_ERR_RMA_RANGE);
    CHECK(MPI_Get(got.data(), count, MPI_SHORT, ring.next, theirs, count, MPI_SHORT, win) ==
          MPI_ERR_RMA_RANGE);
    CHECK(MPI_Accumulate(values.data(), count, MPI_SHORT, ring.next, theirs, count, MPI_SHORT, MPI_SUM,
                         win) == MPI_ERR_RMA_RANGE);
    // Words are updated one by one, so these would change nothing. The call says it, and not the unlock.
    const std::vector<int> zeros(kSpanInts);
    std::vector<int> seen(kSpanInts);
    CHECK(MPI_Accumulate(zeros.data(), kSpanInts, MPI_INT, ring.next, theirs, kSpanInts, MPI_INT, MPI_SUM,
                         win) == MPI_ERR_RMA_RANGE);
    CHECK(MPI_Get_accumulate(nullptr, 0, MPI_INT, seen.data(), kSpanInts, MPI_INT, ring.next, theirs,
                             kSpanInts, MPI_INT, MPI_NO_OP, win) == MPI_ERR_RMA_RANGE);
    SUCCEEDS(MPI_Win_unlock(ring.next, win));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(std::equal(expected.begin(), expected.end(), ints));
  for (std::size_t i = 0; i + 2 < borders.size(); ++i) SUCCEEDS(MPI_Win_detach(win, bytes + borders[i]));
  SUCCEEDS(MPI_Win_free(&win));
  if (place == Place::kLibrary) SUCCEEDS(MPI_Free_mem(ints));
}

/// More pieces than any table of a few thousand has room for, in any order. Between hosts each is registered,
/// which takes long on emulated devices, so there they are fewer.
void attach_many(unsigned seed) {
  const std::size_t count = on_one_host() ? 5000 : 300;
  const Ring ring(MPI_COMM_WORLD);
  std::mt19937 random(seed);
  std::vector<std::array<int, 16>> pieces(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  // All but the last 4 bytes of each, so that the pieces are no neighbours.
  for (const std::size_t i : order) SUCCEEDS(MPI_Win_attach(win, pieces[i].data(), 15 * sizeof(int)));
  MPI_Aint mine = 0;
  MPI_Aint theirs = 0;
  SUCCEEDS(MPI_Get_address(pieces.data(), &mine));
  SUCCEEDS(MPI_Sendrecv(&mine, 1, MPI_AINT, ring.previous, 0, &theirs, 1, MPI_AINT, ring.next, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Win_fence(0, win));
  for (std::size_t i = 0; i < count; i += 7) {
    const int value = static_cast<int>(i) + ring.rank;
    const MPI_Aint at = theirs + static_cast<MPI_Aint>(i * sizeof(pieces[0]));
    SUCCEEDS(MPI_Put(&value, 1, MPI_INT, ring.next, at, 1, MPI_INT, win));
    const MPI_Aint behind = at + 15 * static_cast<MPI_Aint>(sizeof(int));
    if (ring.size > 1)
      CHECK(MPI_Put(&value, 1, MPI_INT, ring.next, behind, 1, MPI_INT, win) == MPI_ERR_RMA_RANGE);
  }
  SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (std::size_t i = 0; i < count; ++i)
    CHECK(pieces[i][0] == (i % 7 == 0 ? static_cast<int>(i) + ring.previous : 0));
  for (std::size_t i = 0; i < count; i += 2) SUCCEEDS(MPI_Win_detach(win, pieces[order[i]].data()));
  SUCCEEDS(MPI_Win_free(&win));
}

/// Windows over memory of the library, and of nobody: parts may be empty.
void parts_of_all_sizes() {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  long* library = nullptr;
  SUCCEEDS(
      MPI_Alloc_mem(static_cast<MPI_Aint>(sizeof(long)) * size, MPI_INFO_NULL, static_cast<void*>(&library)));
  std::fill_n(library, size, -1L);
  const MPI_Aint bytes = rank % 2 == 0 ? static_cast<MPI_Aint>(sizeof(long)) * size : 0;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_create_c(bytes != 0 ? library : nullptr, bytes, sizeof(long), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &win));
  SUCCEEDS(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  SUCCEEDS(MPI_Win_fence(0, win));
  const long value = rank;
  for (int target = 0; target < size; ++target) {
    const int code = MPI_Put(&value, 1, MPI_LONG, target, rank, 1, MPI_LONG, win);
    CHECK(code == (target % 2 == 0 ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
  }
  SUCCEEDS(MPI_Win_fence(0, win));
  for (int i = 0; i < size; ++i) CHECK(library[i] == (rank % 2 == 0 ? i : -1));
  SUCCEEDS(MPI_Win_free(&win));
  SUCCEEDS(MPI_Free_mem(library));
}

/// The remaining calls with MPI_Count, and requests beside messages in one list.
void large_forms() {
  const Ring ring(MPI_COMM_WORLD);
  for (const bool shared : {false, true}) {
    if (shared && !on_one_host()) continue;
    MPI_Win win = MPI_WIN_NULL;
    long* mine = nullptr;
    if (shared) {
      SUCCEEDS(
          MPI_Win_allocate_shared_c(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine), &win));
    } else {
      SUCCEEDS(MPI_Win_allocate_c(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine), &win));
    }
    std::fill_n(mine, 8, 10L * ring.rank);
    SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, ring.next, 0, win));
    const long value = 1;
    std::array<long, 4> got = {};
    long message = -1;
    std::array<MPI_Request, 6> requests = {};
    std::array<MPI_Status, 6> statuses = {};
    SUCCEEDS(MPI_Irecv(&message, 1, MPI_LONG, ring.previous, 1, MPI_COMM_WORLD, requests.data()));
    SUCCEEDS(MPI_Rput_c(&value, 1, MPI_LONG, ring.next, 0, 1, MPI_LONG, win, &requests[1]));
    SUCCEEDS(MPI_Rget_c(got.data(), 1, MPI_LONG, ring.next, 1, 1, MPI_LONG, win, &requests[2]));
    SUCCEEDS(MPI_Raccumulate_c(&value, 1, MPI_LONG, ring.next, 2, 1, MPI_LONG, MPI_SUM, win, &requests[3]));
    SUCCEEDS(MPI_Rget_accumulate_c(&value, 1, MPI_LONG, &got[1], 1, MPI_LONG, ring.next, 3, 1, MPI_LONG,
                                   MPI_PROD, win, &requests[4]));
    SUCCEEDS(MPI_Isend(&value, 1, MPI_LONG, ring.next, 1, MPI_COMM_WORLD, &requests[5]));
    SUCCEEDS(MPI_Waitall(6, requests.data(), statuses.data()));
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    CHECK(statuses[1].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG);
    SUCCEEDS(MPI_Get_accumulate_c(&value, 1, MPI_LONG, &got[2], 1, MPI_LONG, ring.next, 4, 1, MPI_LONG,
                                  MPI_REPLACE, win));
    SUCCEEDS(MPI_Get_c(&got[3], 1, MPI_LONG, ring.next, 5, 1, MPI_LONG, win));
    SUCCEEDS(MPI_Win_unlock(ring.next, win));
    CHECK(std::ranges::all_of(got, [&](long one) { return one == 10L * ring.next; }) && message == 1);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    const long base = 10L * ring.rank;
    CHECK(mine[0] == 1 && mine[1] == base && mine[2] == base + 1 && mine[3] == base && mine[4] == 1 &&
          mine[5] == base);
    SUCCEEDS(MPI_Win_free(&win));
  }
}

/// Transfers of many bytes and of many parts, to memory that is mapped and to memory that is not.
void large_transfers() {
  const int parts = on_one_host() ? 40000 : 2000;
  const Ring ring(MPI_COMM_WORLD);
  std::vector<int> places(static_cast<std::size_t>(parts));
  for (int i = 0; i < parts; ++i) places[static_cast<std::size_t>(i)] = 3 * i + i % 2;
  MPI_Datatype scattered = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_create_indexed_block(parts, 1, places.data(), MPI_INT, &scattered));
  SUCCEEDS(MPI_Type_commit(&scattered));
  for (const int flavor : {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE}) {
    const TestWindow window(flavor, sizeof(int) * 4 * static_cast<std::size_t>(parts));
    std::vector<int> values(static_cast<std::size_t>(parts));
    std::iota(values.begin(), values.end(), ring.rank);
    std::vector<int> got(static_cast<std::size_t>(parts), -1);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    SUCCEEDS(MPI_Win_lock(MPI_LOCK_SHARED, ring.next, 0, window.get()));
    SUCCEEDS(MPI_Rput(values.data(), parts, MPI_INT, ring.next, window.at(ring.next, 0), 1, scattered,
                      window.get(), &request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_Win_flush(ring.next, window.get()));
    SUCCEEDS(
        MPI_Get(got.data(), parts, MPI_INT, ring.next, window.at(ring.next, 0), 1, scattered, window.get()));
    SUCCEEDS(MPI_Win_unlock(ring.next, window.get()));
    CHECK(got == values);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    const auto* const mine = reinterpret_cast<const int*>(window.memory());
    bool right = true;
    for (int i = 0; i < parts; ++i)
      right = right && mine[places[static_cast<std::size_t>(i)]] == ring.previous + i;
    CHECK(right && mine[3] == 0 && mine[2] == 0);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }
  SUCCEEDS(MPI_Type_free(&scattered));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (on_one_host()) {
    shared_parts(true);
    shared_parts(false);
  }
  attached_pieces();
  const unsigned seed = test_seed();
  for (const Place place : {Place::kMalloc, Place::kLibrary, Place::kStatic, Place::kBehindHeap}) {
    // Other hosts reach only what the heap has allocated.
    if (place != Place::kBehindHeap || on_one_host()) span_pieces(place, seed);
  }
  attach_many(seed);
  parts_of_all_sizes();
  large_forms();
  large_transfers();
  const int code = result();
  MPI_Finalize();
  return code;
}
