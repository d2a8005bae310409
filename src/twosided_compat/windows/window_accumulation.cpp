#include "twosided_compat/windows/window_accumulation.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/operators/operators.hpp"
#include "twosided_compat/windows/window_words.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

using Bytes = std::unique_ptr<std::byte[]>;  // aligned as the largest machine type

Bytes bytes_for(std::size_t bytes) { return std::make_unique_for_overwrite<std::byte[]>(bytes); }

Buffer contiguous(std::byte* data, std::size_t bytes) { return {.data = data, .bytes = bytes}; }

bool is_aligned(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Returns the error class of a failed access to a window.
int access_failure(rma_status_t status) {
  return status == RMA_ERR_ADDRESS ? failure(MPI_ERR_RMA_RANGE, rma_last_error()) : library_failure(status);
}

/// The data of a buffer in one piece: the buffer's own memory where that is possible, else a copy.
class Packed {
 public:
  Packed(const Buffer& buffer, std::size_t alignment) : data_(buffer.data) {
    if (buffer.bytes == 0 || (buffer.is_contiguous() && is_aligned(buffer.data, alignment))) return;
    copy_ = bytes_for(buffer.bytes);
    pack(buffer, copy_.get());
    data_ = copy_.get();
  }
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  const std::byte* data_;
  Bytes copy_;
};

// ---- Words ----------------------------------------------------------------------------------------------

/// Calls `step(word, operand, next)` for each word of the target until it fails. `next` is the place of the
/// word in the packed data, in bytes.
template <class Word, class Step>
int for_words(const Accumulation& accumulation, const Step& step) {
  const Target& target = accumulation.target;
  const bool reads = accumulation.op != number::kNoOp;
  const Packed operands(reads ? accumulation.origin : Buffer{}, 1);
  std::size_t next = 0;
  int code = MPI_SUCCESS;
  target.buffer.visit(target.buffer.bytes, [&](std::byte* at, std::size_t bytes) {
    if (code != MPI_SUCCESS) return;
    if (!is_aligned(at, sizeof(Word))) {
      code = failure(MPI_ERR_DISP,
                     fmt::format("the target's integers of {} bytes are not aligned", sizeof(Word)));
      return;
    }
    for (std::byte* const end = at + bytes; at != end; at += sizeof(Word), next += sizeof(Word)) {
      Word operand = 0;
      if (reads) std::memcpy(&operand, operands.data() + next, sizeof operand);
      Word* const word = word_of<Word>(*target.part, reinterpret_cast<std::uintptr_t>(at));
      const rma_status_t status = step(word, operand, next);
      if (status != RMA_SUCCESS) {
        code = access_failure(status);
        return;
      }
    }
  });
  return code;
}

/// Starts the operations on all words of a rank of another host, so that they take one round trip together.
/// The synchronization of the window completes them. A call that fetches waits, and so does one in a dynamic
/// window, which itself says that memory is not attached. The owner executes what this process sends it in
/// that order, as MPI wants it of accumulates.
template <class Word>
int start_on_words(const Accumulation& accumulation, rma_atomic_op_t operation) {
  const WindowPart& part = *accumulation.target.part;
  std::vector<Word> results(accumulation.fetches ? accumulation.target.buffer.bytes / sizeof(Word) : 0);
  const int code = for_words<Word>(accumulation, [&](Word* word, Word operand, std::size_t next) {
    Word* const old = results.empty() ? nullptr : &results[next / sizeof(Word)];
    return start_library_atomic(operation, word, operand, old, part.owner);
  });
  if (results.empty() && !part.is_dynamic) return code;
  // The fence is needed after a failure, too: the operations that were started store into `results`.
  const rma_status_t fenced = rma_fence(part.owner);
  RMA_TRY(code);
  if (fenced != RMA_SUCCESS) return access_failure(fenced);
  if (!results.empty()) {
    unpack(reinterpret_cast<const std::byte*>(results.data()), accumulation.result.bytes,
           accumulation.result);
  }
  return MPI_SUCCESS;
}

template <class Word>
int run_on_words(const Accumulation& accumulation) {
  const WindowPart& part = *accumulation.target.part;
  const WordOperation operation = word_operation(accumulation.op, accumulation.kernel);
  if (operation.is_native && rma_same_host(part.owner) == 0)
    return start_on_words<Word>(accumulation, operation.native);
  const bool in_place = accumulation.fetches && accumulation.result.is_contiguous();
  Bytes copy;
  if (accumulation.fetches && !in_place) copy = bytes_for(accumulation.result.bytes);
  std::byte* const results = in_place ? accumulation.result.data : copy.get();
  const int code = for_words<Word>(accumulation, [&](Word* word, Word operand, std::size_t next) {
    Word old = 0;
    const rma_status_t status = perform(operation, word, operand, old, part.owner);
    if (status == RMA_SUCCESS && results != nullptr) std::memcpy(results + next, &old, sizeof old);
    return status;
  });
  if (code == MPI_SUCCESS && copy != nullptr)
    unpack(copy.get(), accumulation.result.bytes, accumulation.result);
  return code;
}

/// Updates words of a part that is mapped here, one after the other. They are aligned.
template <class Word>
int update_words_here(const MappedTransfer& target, const std::byte* origin, const WordOperation& operation) {
  const WindowPart& part = *target.part;
  const auto address = reinterpret_cast<std::uintptr_t>(target.there());
  for (std::size_t at = 0; at != target.bytes; at += sizeof(Word)) {
    Word operand = 0;
    std::memcpy(&operand, origin + at, sizeof operand);
    Word old = 0;
    const rma_status_t status =
        perform(operation, word_of<Word>(part, address + at), operand, old, part.owner);
    if (status != RMA_SUCCESS) return access_failure(status);
  }
  return MPI_SUCCESS;
}

// ---- Other elements, under the lock ---------------------------------------------------------------------

/// Moves all data of a target from or to one piece of memory, and waits.
int move_all(Direction direction, std::byte* data, const Target& target) {
  const std::size_t bytes = target.buffer.bytes;
  const rma_status_t status = transfer(direction, contiguous(data, bytes), target, bytes, nullptr);
  return status == RMA_SUCCESS ? flush_part(*target.part) : access_failure(status);
}

/// Returns the alignment of the machine type. Sizes that are no power of two belong to types with holes.
std::size_t element_alignment(const PredefinedType& type) {
  const std::size_t size = type.type_class == TypeClass::kComplex ? type.size / 2U : type.size;
  return (size & (size - 1)) == 0 ? size : 1;
}

/// Combines packed data: inout[i] = in[i] op inout[i]. The elements of a type with holes get their holes
/// first.
void combine(const Accumulation& accumulation, const std::byte* in, std::byte* inout, std::size_t bytes) {
  const PredefinedType& type = *accumulation.element->predefined();
  const std::size_t count = bytes / type.size;
  if (type.size == type.extent) {
    accumulation.kernel(in, inout, count, nullptr);
    return;
  }
  const Bytes ins = bytes_for(count * type.extent);
  const Bytes inouts = bytes_for(count * type.extent);
  const auto with_holes = [&](std::byte* data) {
    return Buffer{
        .data = data, .bytes = bytes, .type = accumulation.element, .count = static_cast<MPI_Count>(count)};
  };
  unpack(in, bytes, with_holes(ins.get()));
  unpack(inout, bytes, with_holes(inouts.get()));
  accumulation.kernel(ins.get(), inouts.get(), count, nullptr);
  pack(with_holes(inouts.get()), inout);
}

/// Updates a target that is mapped here, in one piece and aligned, where it is.
int update_in_place(const Accumulation& accumulation, const std::byte* operands) {
  const std::size_t bytes = accumulation.target.buffer.bytes;
  std::byte* const here = mapped(accumulation.target, accumulation.target.buffer.data);
  if (accumulation.fetches) unpack(here, bytes, accumulation.result);
  if (accumulation.op == number::kReplace) {
    std::memcpy(here, operands, bytes);
  } else if (accumulation.op != number::kNoOp) {
    accumulation.kernel(operands, here, bytes / accumulation.element->predefined()->size, nullptr);
  }
  return MPI_SUCCESS;
}

/// Reads the target, combines, and writes it back.
int update_by_copies(const Accumulation& accumulation, const std::byte* operands) {
  const std::size_t bytes = accumulation.target.buffer.bytes;
  const Bytes data = bytes_for(bytes);
  const bool replaces = accumulation.op == number::kReplace;
  if (accumulation.fetches || !replaces) {
    RMA_TRY(move_all(Direction::kGet, data.get(), accumulation.target));
  }
  if (accumulation.fetches) unpack(data.get(), bytes, accumulation.result);
  if (accumulation.op == number::kNoOp) return MPI_SUCCESS;
  if (replaces) {
    std::memcpy(data.get(), operands, bytes);
  } else {
    combine(accumulation, operands, data.get(), bytes);
  }
  return move_all(Direction::kPut, data.get(), accumulation.target);
}

int run_locked(const Window& win, const Accumulation& accumulation) {
  const Target& target = accumulation.target;
  const std::size_t alignment = element_alignment(*accumulation.element->predefined());
  const Packed operands(accumulation.op != number::kNoOp ? accumulation.origin : Buffer{}, alignment);
  const bool in_place = target.part->here != nullptr && target.buffer.is_contiguous() &&
                        is_aligned(target.buffer.data, alignment) &&
                        is_aligned(mapped(target, target.buffer.data), alignment);
  AccumulateLock lock(win, *target.part);
  RMA_TRY(lock.acquire());
  const int code = in_place ? update_in_place(accumulation, operands.data())
                            : update_by_copies(accumulation, operands.data());
  const int released = lock.release();
  return code != MPI_SUCCESS ? code : released;
}

/// Which bytes of a contiguous piece are memory of words.
struct WordSpan {
  bool some = false;
  bool all = false;
};

/// Looks for the two ranges of an owner in which words lie: its heap and its static data.
WordSpan words_between(const WindowPart& part, std::byte* at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (rma_direct_address(at, bytes, part.owner) != nullptr || part.data.holds(address, bytes))
    return {.some = true, .all = true};
  const auto meets = [&](std::uintptr_t begin, std::size_t size) {
    return address < begin + size && begin < address + bytes;
  };
  const bool has_heap = static_cast<std::size_t>(part.owner) < rma_direct.count;
  const bool heap = has_heap && meets(rma_direct.peers[part.owner].base, rma_direct.peers[part.owner].bytes);
  return {.some = heap || meets(part.data.begin, part.data.bytes), .all = false};
}

}  // namespace

int find_accumulate_kernel(MPI_Op op, const PredefinedType& type, kernels::Loop& kernel) {
  kernel = nullptr;
  if (!is_predefined_operator(op))
    return failure(MPI_ERR_OP, "the operator of an accumulate is a predefined one");
  if (op == MPI_REPLACE || op == MPI_NO_OP) return MPI_SUCCESS;
  kernel = find_loop(op, type);
  if (kernel != nullptr) return MPI_SUCCESS;
  return failure(MPI_ERR_OP,
                 fmt::format("the operator 0x{:x} is not defined for {}", predefined_number(op), type.name));
}

int run(Window& win, const Accumulation& accumulation) {
  if (accumulation.target.buffer.bytes == 0) return MPI_SUCCESS;
  const PredefinedType& type = *accumulation.element->predefined();
  const Words words = words_in(accumulation.target, type);
  if (words == Words::kNone) return run_locked(win, accumulation);
  // If there are both words and others, both ways to be atomic are taken.
  AccumulateLock lock(win, *accumulation.target.part);
  if (words == Words::kSome) {
    RMA_TRY(lock.acquire());
  }
  return type.size == sizeof(std::uint64_t) ? run_on_words<std::uint64_t>(accumulation)
                                            : run_on_words<std::uint32_t>(accumulation);
}

bool run_mapped(const Window& win, const MappedTransfer& target, const std::byte* origin,
                const PredefinedType& type, MPI_Op op, int& code) {
  // A sum of integers needs no look into the table of operators.
  const bool adds = op == MPI_SUM && type.type_class != TypeClass::kLogical && is_word(*target.part, type);
  const kernels::Loop kernel = !adds && is_predefined_operator(op) ? find_loop(op, type) : nullptr;
  // MPI_REPLACE has no loop either.
  if ((kernel == nullptr && !adds) || type.size != type.extent) return false;
  if (adds || is_word(*target.part, type)) {
    if (!is_aligned(target.there(), type.size)) return false;
    const WordOperation operation = adds ? WordOperation{.is_native = true, .native = RMA_FETCH_ADD}
                                         : word_operation(predefined_number(op), kernel);
    code = type.size == sizeof(std::uint64_t) ? update_words_here<std::uint64_t>(target, origin, operation)
                                              : update_words_here<std::uint32_t>(target, origin, operation);
    return true;
  }
  const std::size_t alignment = element_alignment(type);
  if (!is_aligned(target.here(), alignment) || !is_aligned(origin, alignment)) return false;
  AccumulateLock lock(win, *target.part);
  code = lock.acquire();
  if (code != MPI_SUCCESS) return true;
  kernel(origin, target.here(), target.bytes / type.size, nullptr);
  code = lock.release();
  return true;
}

Words words_in(const Target& target, const PredefinedType& type) {
  const WindowPart& part = *target.part;
  if (!may_be_word(type)) return Words::kNone;
  if (part.has_words) return Words::kAll;
  if (!part.is_dynamic) return Words::kNone;
  bool some = false;
  bool all = true;
  target.buffer.visit(target.buffer.bytes, [&](std::byte* at, std::size_t bytes) {
    const WordSpan span = words_between(part, at, bytes);
    some = some || span.some;
    all = all && span.all;
  });
  if (all) return Words::kAll;
  return some ? Words::kSome : Words::kNone;
}

int compare_and_swap_locked(const Window& win, const Target& target, const void* origin, const void* compare,
                            void* result) {
  constexpr std::size_t kMost = 16;
  std::array<std::byte, kMost> seen = {};
  const std::size_t bytes = target.buffer.bytes;
  AccumulateLock lock(win, *target.part);
  RMA_TRY(lock.acquire());
  int code = move_all(Direction::kGet, seen.data(), target);
  if (code == MPI_SUCCESS && std::memcmp(seen.data(), compare, bytes) == 0) {
    std::array<std::byte, kMost> stored = {};
    std::memcpy(stored.data(), origin, bytes);
    code = move_all(Direction::kPut, stored.data(), target);
  }
  const int released = lock.release();
  if (code == MPI_SUCCESS) std::memcpy(result, seen.data(), bytes);
  return code != MPI_SUCCESS ? code : released;
}

}  // namespace librma::mpi
