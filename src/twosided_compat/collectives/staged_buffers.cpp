#include "twosided_compat/collectives/staged_buffers.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

#include <algorithm>

namespace librma::mpi {

StagedBuffers::~StagedBuffers() {
  for (Datatype* const type : types_) type->remove_reference();
}

std::byte* StagedBuffers::memory(std::size_t bytes) {
  return memory_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

void StagedBuffers::add(const Buffer& original, const Buffer& copy, bool result) {
  staged_.push_back({.original = original, .copy = copy, .result = result});
  if (original.type == nullptr) return;
  // A buffer only reads its type; references are counted all the same.
  auto* const type = const_cast<Datatype*>(original.type);
  types_.push_back(type);
  type->add_reference();
}

void StagedBuffers::stage(Buffer& buffer, bool result) {
  if (buffer.is_contiguous()) return;
  const Buffer copy = {.data = memory(buffer.bytes), .bytes = buffer.bytes};
  add(buffer, copy, result);
  buffer = copy;
}

void StagedBuffers::stage(Blocks& blocks, int members, bool array, bool result) {
  if (blocks.is_array()) return;
  std::size_t bytes = 0;
  bool usable = true;
  const std::byte* next = blocks.data(0);
  for (int member = 0; member < members; ++member) {
    const Buffer block = blocks.of(member);
    usable = usable && block.is_contiguous() && (!array || block.data == next);
    next = block.data + block.bytes;
    bytes += block.bytes;
  }
  if (usable) return;
  std::byte* const begin = memory(bytes);
  std::byte* place = begin;
  for (int member = 0; member < members; ++member) {
    const Buffer block = blocks.of(member);
    const Buffer copy = {.data = place, .bytes = block.bytes};
    add(block, copy, result);
    place += block.bytes;
  }
  blocks.move_to(begin);
}

bool StagedBuffers::separates(MPI_Datatype type) {
  if (dense_size(type) != 0) return true;
  const Bounds& bounds = find<Datatype>(type)->bounds();
  const MPI_Count end = bounds.true_lower + bounds.true_extent - bounds.lower;
  return bounds.extent >= 0 && bounds.true_lower >= bounds.lower && end <= bounds.extent;
}

StagedBuffers::Whole StagedBuffers::whole_memory(const Datatype& type, MPI_Count count) {
  const TypeMap map = type.map_of(count);
  constexpr MPI_Count kAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  // The memory begins a multiple of the alignment before (or behind) the place that is to be aligned.
  const MPI_Count aligned = aligned_begin(type.bounds());
  const MPI_Count begin = aligned + ((map.low() - aligned) & -kAlignment);
  const auto bytes = static_cast<std::size_t>(std::max<MPI_Count>(map.high() - begin, 1));
  return {.memory = memory(bytes), .bytes = bytes, .begin = begin};
}

int StagedBuffers::add_whole(const void* address, MPI_Count first, MPI_Count count, MPI_Datatype type,
                             bool result, const Whole& whole) {
  Buffer original;
  RMA_TRY(find_buffer(address, count, type, original));
  Buffer copy;
  const MPI_Count place = first * find<Datatype>(type)->bounds().extent - whole.begin;
  const auto origin = reinterpret_cast<std::uintptr_t>(whole.memory) + static_cast<std::uintptr_t>(place);
  RMA_TRY(find_buffer(reinterpret_cast<void*>(origin), count, type, copy));
  add(original, copy, result);
  return MPI_SUCCESS;
}

int StagedBuffers::stage_whole(const void* address, MPI_Count count, MPI_Datatype type, Whole& whole) {
  whole = whole_memory(*find<Datatype>(type), count);
  return add_whole(address, 0, count, type, false, whole);
}

int StagedBuffers::stage_whole_result(void* address, MPI_Count first, MPI_Count result_count, MPI_Count count,
                                      MPI_Datatype type, Whole& whole) {
  whole = whole_memory(*find<Datatype>(type), count);
  return add_whole(address, first, result_count, type, true, whole);
}

int StagedBuffers::stage_elements(void*& address, MPI_Count count, MPI_Datatype type, bool result) {
  if (dense_size(type) != 0) return MPI_SUCCESS;
  RMA_TRY_ASSIGN(object, find_datatype(type));
  const Bounds& bounds = object->bounds();
  Buffer original;
  RMA_TRY(find_buffer(address, count, type, original));
  std::byte* const array = memory(static_cast<std::size_t>(count * bounds.extent));
  Buffer copy;
  const auto origin =
      reinterpret_cast<std::uintptr_t>(array) - static_cast<std::uintptr_t>(aligned_begin(bounds));
  RMA_TRY(find_buffer(reinterpret_cast<void*>(origin), count, type, copy));
  add(original, copy, result);
  address = array;
  return MPI_SUCCESS;
}

void StagedBuffers::load() const {
  for (const Staged& staged : staged_) copy_data(staged.original, staged.copy);
}

void StagedBuffers::store() const {
  for (const Staged& staged : staged_) {
    if (staged.result) copy_data(staged.copy, staged.original);
  }
}

}  // namespace librma::mpi
