// Random puts, gets and accumulates with random datatypes, in every kind of epoch and window, against a
// model. Each rank has a slice of every rank's window for itself, and keeps a copy of what the slice should
// be.

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "type_maker.hpp"
#include "window_case.hpp"

namespace {

using namespace mpi_test;

constexpr std::size_t kSlice = 8192;

using Slice = std::vector<unsigned char>;

/// The slices of this rank, at all ranks.
struct Model {
  std::vector<Slice> slices;
  explicit Model(int size) : slices(static_cast<std::size_t>(size), Slice(kSlice)) {}
  [[nodiscard]] Slice& of(int rank) { return slices[static_cast<std::size_t>(rank)]; }
};

/// Returns where an array of `count` elements may begin in a slice, or no place if it does not fit.
std::optional<std::size_t> draw_place(const TypeModel& type, int count, std::mt19937& random) {
  const MPI_Aint reach = (count - 1) * type.extent();
  const MPI_Aint low = type.true_lower() + std::min<MPI_Aint>(reach, 0);
  const MPI_Aint high = type.true_upper() + std::max<MPI_Aint>(reach, 0);
  const MPI_Aint first = (std::max<MPI_Aint>(-low, 0) + 15) / 16;
  const MPI_Aint last = (static_cast<MPI_Aint>(kSlice) - std::max<MPI_Aint>(high, 0)) / 16;
  if (first > last) return std::nullopt;
  return static_cast<std::size_t>(std::uniform_int_distribution(first, last)(random)) * 16;
}

/// Calls visit(offset from the first element, bytes) for the elements of an array, in their order.
template <class Visit>
void for_each_element(const TypeModel& type, int count, const Visit& visit) {
  for (int i = 0; i < count; ++i) {
    for (const Element& one : type.map)
      visit(i * type.extent() + one.offset, static_cast<std::size_t>(one.bytes));
  }
}

std::vector<unsigned char> data_of(const unsigned char* base, const TypeModel& type, int count) {
  std::vector<unsigned char> data;
  for_each_element(type, count, [&](MPI_Aint at, std::size_t bytes) {
    data.insert(data.end(), base + at, base + at + bytes);
  });
  return data;
}

void place_data(unsigned char* base, const TypeModel& type, int count,
                const std::vector<unsigned char>& data) {
  std::size_t next = 0;
  for_each_element(type, count, [&](MPI_Aint at, std::size_t bytes) {
    std::memcpy(base + at, data.data() + next, bytes);
    next += bytes;
  });
}

class Traffic {
 public:
  Traffic(const TestWindow& window, unsigned seed)
      : window_(window),
        rank_(rank_in(MPI_COMM_WORLD)),
        size_(size_of(MPI_COMM_WORLD)),
        random_(seed * 131U + static_cast<unsigned>(rank_)),
        types_(seed * 31U + static_cast<unsigned>(rank_)),
        model_(size_) {}

  /// One operation to each rank, or several with a completion in between.
  void run(Mode mode, int lock_type) {
    std::vector<MPI_Request> requests;
    {
      const TestEpoch epoch(window_.get(), mode, lock_type);
      for (int target = 0; target < size_; ++target) {
        for (int i = epoch.is_passive() ? 4 : 1; i > 0; --i) {
          operate(target, epoch.is_passive(), requests);
          SUCCEEDS(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
          requests.clear();
          epoch.complete(target);
          if (epoch.is_passive()) finish_get();
        }
      }
    }
    finish_get();
    check();
  }

 private:
  [[nodiscard]] int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  [[nodiscard]] MPI_Aint displacement(int target, std::size_t place) const {
    return window_.at(target, static_cast<std::size_t>(rank_) * kSlice + place);
  }

  void operate(int target, bool with_requests, std::vector<MPI_Request>& requests) {
    if (below(3) == 0) {
      accumulate(target, with_requests && below(2) == 0, requests);
      return;
    }
    TypeModel type = types_.make(3);
    int count = 1 + below(4);
    std::optional<std::size_t> place = draw_place(type, count, random_);
    while (!place || type.map.size() > 400) {
      type = types_.make(2);
      count = 1 + below(2);
      place = draw_place(type, count, random_);
    }
    std::vector<Element> elements;
    for (int i = 0; i < count; ++i) elements.insert(elements.end(), type.map.begin(), type.map.end());
    const bool same = below(2) == 0 || elements.empty();
    const TypeModel local = same ? type : types_.relaid(elements);
    const int local_count = same ? count : 1;
    auto memory = std::make_unique<TypeMemory>(local, local_count);
    memory->fill(static_cast<unsigned>(random_()));
    unsigned char* const expected = model_.of(target).data() + *place;
    const MPI_Aint disp = displacement(target, *place);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool requested = with_requests && below(2) == 0;
    if (below(2) == 0) {
      place_data(expected, type, count, memory->data(local, local_count));
      if (requested) {
        SUCCEEDS(MPI_Rput(memory->address(), local_count, local.type, target, disp, count, type.type,
                          window_.get(), &request));
      } else {
        SUCCEEDS(MPI_Put_c(memory->address(), local_count, local.type, target, disp, count, type.type,
                           window_.get()));
      }
      puts_.push_back(std::move(memory));
    } else {
      auto wanted = std::make_unique<TypeMemory>(*memory);
      wanted->place(local, local_count, data_of(expected, type, count));
      if (requested) {
        SUCCEEDS(MPI_Rget(memory->address(), local_count, local.type, target, disp, count, type.type,
                          window_.get(), &request));
      } else {
        SUCCEEDS(MPI_Get(memory->address(), local_count, local.type, target, disp, count, type.type,
                         window_.get()));
      }
      gets_.push_back({std::move(memory), std::move(wanted)});
    }
    if (requested) requests.push_back(request);
  }

  /// The gets of a completed epoch have brought what the model says.
  void finish_get() {
    for (const auto& [got, wanted] : gets_) CHECK(got->all() == wanted->all());
    gets_.clear();
    puts_.clear();
  }

  struct Kind {
    MPI_Datatype type;
    std::vector<MPI_Op> ops;
  };

  /// Returns a predefined type and an operator that is defined for it.
  [[nodiscard]] std::pair<MPI_Datatype, MPI_Op> draw_operation() {
    static const std::vector<MPI_Op> integer = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                                                MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    static const std::vector<MPI_Op> floating = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    static const std::vector<MPI_Op> logical = {MPI_LAND, MPI_LOR, MPI_LXOR};
    static const std::vector<MPI_Op> complex = {MPI_SUM, MPI_PROD};
    static const std::vector<MPI_Op> pair = {MPI_MINLOC, MPI_MAXLOC};
    static const std::vector<Kind> kinds = {{MPI_INT, integer},
                                            {MPI_LONG, integer},
                                            {MPI_UINT64_T, integer},
                                            {MPI_UINT32_T, integer},
                                            {MPI_SHORT, integer},
                                            {MPI_UNSIGNED_CHAR, integer},
                                            {MPI_AINT, {MPI_SUM, MPI_MIN, MPI_BXOR}},
                                            {MPI_DOUBLE, floating},
                                            {MPI_FLOAT, floating},
                                            {MPI_LONG_DOUBLE, floating},
                                            {MPI_C_DOUBLE_COMPLEX, complex},
                                            {MPI_C_BOOL, logical},
                                            {MPI_LOGICAL, logical},
                                            {MPI_BYTE, {MPI_BOR, MPI_BXOR}},
                                            {MPI_CHAR, integer},
                                            {MPI_CHARACTER, {MPI_REPLACE}},
                                            {MPI_2INT, pair},
                                            {MPI_DOUBLE_INT, pair},
                                            {MPI_SHORT_INT, pair}};
    const Kind& kind = kinds[static_cast<std::size_t>(below(static_cast<int>(kinds.size())))];
    const MPI_Op op = below(5) == 0
                          ? MPI_REPLACE
                          : kind.ops[static_cast<std::size_t>(below(static_cast<int>(kind.ops.size())))];
    return {kind.type, op};
  }

  /// Accumulates small values of one type. `places` of the target are drawn; the origin is contiguous or has
  /// gaps.
  void accumulate(int target, bool requested, std::vector<MPI_Request>& requests) {
    const auto [type, op] = draw_operation();
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    SUCCEEDS(MPI_Type_get_extent(type, &lower, &extent));
    const int count = 1 + below(20);
    std::vector<int> places;
    for (int i = 0, at = 0; i < count; ++i) places.push_back(at += 1 + below(3));
    const bool contiguous = below(2) == 0;
    const std::size_t place = 16 * static_cast<std::size_t>(below(64));
    MPI_Datatype layout = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_create_indexed_block(count, 1, places.data(), type, &layout));
    SUCCEEDS(MPI_Type_commit(&layout));
    // Operands of 16-byte alignment, as the elements of any type need.
    std::vector<max_align_t> room(
        (static_cast<std::size_t>(count) * static_cast<std::size_t>(extent)) / sizeof(max_align_t) + 4);
    auto* const operands = reinterpret_cast<unsigned char*>(room.data());
    set_small(operands, type, extent, count);
    std::vector<max_align_t> result_room(room.size());
    auto* const results = reinterpret_cast<unsigned char*>(result_room.data());
    const bool fetches = below(2) == 0;
    const bool reads_only = fetches && below(6) == 0;
    const MPI_Op used = reads_only ? MPI_NO_OP : op;
    // The model: element by element. A local reduction needs aligned elements.
    std::vector<max_align_t> wanted_room(room.size());
    auto* const wanted = reinterpret_cast<unsigned char*>(wanted_room.data());
    unsigned char* const expected = model_.of(target).data() + place;
    int bytes = 0;
    SUCCEEDS(MPI_Type_size(type, &bytes));
    for (int i = 0; i < count; ++i) {
      alignas(max_align_t) std::array<unsigned char, 64> element = {};
      const int at = contiguous ? i : places[static_cast<std::size_t>(i)];
      copy_element(element.data(), expected + at * extent, type, extent);
      copy_element(wanted + i * extent, element.data(), type, extent);
      if (used == MPI_REPLACE) copy_element(element.data(), operands + i * extent, type, extent);
      if (used != MPI_REPLACE && used != MPI_NO_OP)
        SUCCEEDS(MPI_Reduce_local(operands + i * extent, element.data(), 1, type, used));
      copy_element(expected + at * extent, element.data(), type, extent);
    }
    const int target_count = contiguous ? count : 1;
    const MPI_Datatype target_type = contiguous ? type : layout;
    const MPI_Aint disp = displacement(target, place);
    MPI_Request request = MPI_REQUEST_NULL;
    if (fetches && requested) {
      SUCCEEDS(MPI_Rget_accumulate(operands, count, type, results, count, type, target, disp, target_count,
                                   target_type, used, window_.get(), &request));
    } else if (fetches) {
      SUCCEEDS(MPI_Get_accumulate(operands, count, type, results, count, type, target, disp, target_count,
                                  target_type, used, window_.get()));
    } else if (requested) {
      SUCCEEDS(MPI_Raccumulate(operands, count, type, target, disp, target_count, target_type, used,
                               window_.get(), &request));
    } else {
      SUCCEEDS(MPI_Accumulate_c(operands, count, type, target, disp, target_count, target_type, used,
                                window_.get()));
    }
    if (requested) requests.push_back(request);
    SUCCEEDS(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    requests.clear();
    // This library's accumulates fetch when their call returns, which keeps the test short.
    if (fetches) CHECK(same_elements(results, wanted, type, extent, count));
    SUCCEEDS(MPI_Type_free(&layout));
  }

  /// Copies the data of an element, without the holes that pairs have.
  static void copy_element(unsigned char* to, const unsigned char* from, MPI_Datatype type,
                           MPI_Aint /*extent*/) {
    std::array<unsigned char, 64> packed = {};
    int position = 0;
    SUCCEEDS(MPI_Pack(from, 1, type, packed.data(), 64, &position, MPI_COMM_SELF));
    position = 0;
    SUCCEEDS(MPI_Unpack(packed.data(), 64, &position, to, 1, type, MPI_COMM_SELF));
  }
  static bool same_elements(const unsigned char* one, const unsigned char* other, MPI_Datatype type,
                            MPI_Aint extent, int count) {
    bool same = true;
    for (int i = 0; i < count; ++i) {
      std::array<unsigned char, 64> left = {};
      std::array<unsigned char, 64> right = {};
      int position = 0;
      SUCCEEDS(MPI_Pack(one + i * extent, 1, type, left.data(), 64, &position, MPI_COMM_SELF));
      position = 0;
      SUCCEEDS(MPI_Pack(other + i * extent, 1, type, right.data(), 64, &position, MPI_COMM_SELF));
      same = same && left == right;
    }
    return same;
  }

  /// Sets operands that stay numbers, whatever the type is: bytes 0 and 1 for integers, 1.0 for floating
  /// point.
  void set_small(unsigned char* data, MPI_Datatype type, MPI_Aint extent, int count) {
    std::memset(data, 0, static_cast<std::size_t>(extent * count));
    for (int i = 0; i < count; ++i) {
      unsigned char* const at = data + i * extent;
      const int value = below(2);
      const auto put = [&](auto number) { std::memcpy(at, &number, sizeof number); };
      if (type == MPI_DOUBLE || type == MPI_DOUBLE_INT || type == MPI_C_DOUBLE_COMPLEX) {
        put(static_cast<double>(value));
      } else if (type == MPI_FLOAT) {
        put(static_cast<float>(value));
      } else if (type == MPI_LONG_DOUBLE) {
        // Ten bytes are the number, and the others are 0.
        put(static_cast<long double>(value));
        std::memset(at + 10, 0, 6);
      } else {
        *at = static_cast<unsigned char>(value);
      }
    }
  }

  /// All ranks show each other what their slices should be.
  void check() {
    Slice sent;
    for (const Slice& slice : model_.slices) sent.insert(sent.end(), slice.begin(), slice.end());
    Slice expected(sent.size());
    SUCCEEDS(MPI_Alltoall(sent.data(), static_cast<int>(kSlice), MPI_BYTE, expected.data(),
                          static_cast<int>(kSlice), MPI_BYTE, MPI_COMM_WORLD));
    SUCCEEDS(MPI_Win_sync(window_.get()));
    CHECK(std::memcmp(expected.data(), window_.memory(), expected.size()) == 0);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }

  const TestWindow& window_;
  const int rank_;
  const int size_;
  std::mt19937 random_;
  TypeMaker types_;
  Model model_;
  std::vector<std::unique_ptr<TypeMemory>> puts_;  // until they are complete
  std::vector<std::pair<std::unique_ptr<TypeMemory>, std::unique_ptr<TypeMemory>>> gets_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = test_seed();
  std::mt19937 random(seed);
  for (const int flavor : flavors()) {
    const TestWindow window(flavor, kSlice * static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    // Between the emulated hosts of the cluster's test an atomic operation takes milliseconds.
    const unsigned runs = on_one_host() ? 12 : 1;
    for (unsigned run = 0; run < runs; ++run) {
      // A traffic begins with a slice of zeros.
      std::fill_n(window.memory(), window.bytes(), static_cast<unsigned char>(0));
      SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
      Traffic traffic(window, static_cast<unsigned>(random()));
      for (const Mode mode : kModes) traffic.run(mode, MPI_LOCK_SHARED);
      // Each in turn: locks of several ranks at once could not be exclusive without a circle.
      if (size_of(MPI_COMM_WORLD) == 1) traffic.run(Mode::kLock, MPI_LOCK_EXCLUSIVE);
    }
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
