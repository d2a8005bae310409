#include "twosided_compat/staged_buffers.hpp"

namespace rma::mpi {

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
  std::size_t bytes = 0;
  bool usable = true;
  const std::byte* next = blocks.data(0);
  for (int member = 0; member < members; ++member) {
    const Buffer& block = blocks.of(member);
    usable = usable && block.is_contiguous() && (!array || block.data == next);
    next = block.data + block.bytes;
    bytes += block.bytes;
  }
  if (usable) return;
  std::byte* place = memory(bytes);
  for (int member = 0; member < members; ++member) {
    const Buffer block = blocks.of(member);
    const Buffer copy = {.data = place, .bytes = block.bytes};
    add(block, copy, result);
    blocks.replace(member, copy);
    place += block.bytes;
  }
}

int StagedBuffers::stage_elements(void*& address, MPI_Count count, MPI_Datatype type, bool result) {
  if (dense_size(type) != 0) return MPI_SUCCESS;
  Datatype* object = nullptr;
  if (const int code = find_datatype(type, object); code != MPI_SUCCESS) return code;
  const Bounds& bounds = object->bounds();
  const MPI_Count behind = bounds.true_lower + bounds.true_extent - bounds.lower;
  if (bounds.extent < 0 || bounds.true_lower < bounds.lower || behind > bounds.extent) {
    return failure(MPI_ERR_UNSUPPORTED_OPERATION,
                   "a nonblocking reduction of a type whose data lie outside of its bounds is not supported");
  }
  Buffer original;
  if (const int code = find_buffer(address, count, type, original); code != MPI_SUCCESS) return code;
  std::byte* const array = memory(static_cast<std::size_t>(count * bounds.extent));
  Buffer copy;
  const auto origin = reinterpret_cast<std::uintptr_t>(array) - static_cast<std::uintptr_t>(bounds.lower);
  if (const int code = find_buffer(reinterpret_cast<void*>(origin), count, type, copy); code != MPI_SUCCESS)
    return code;
  add(original, copy, result);
  address = array;
  return MPI_SUCCESS;
}

void StagedBuffers::load() const {
  for (const Staged& one : staged_) copy_data(one.original, one.copy);
}

void StagedBuffers::store() const {
  for (const Staged& one : staged_) {
    if (one.result) copy_data(one.copy, one.original);
  }
}

}  // namespace rma::mpi
