#include "twosided_compat/collectives/collective_arguments.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

namespace {

/// Finds the distance of the elements of a type in a buffer. MPI_ERR_TYPE.
int find_extent(MPI_Datatype type, MPI_Count& extent) {
  RMA_TRY_ASSIGN(object, find_datatype(type));
  extent = object->bounds().extent;
  return MPI_SUCCESS;
}

/// Returns the address `distance` bytes behind another one, which may be MPI_BOTTOM.
void* behind(void* address, MPI_Count distance) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) +
                                 static_cast<std::uintptr_t>(distance));
}

/// Finds the block of a member, `distance` bytes behind `address`.
int find_block(void* address, MPI_Count distance, MPI_Count count, MPI_Datatype type, Buffer& block) {
  if (address == nullptr && dense_size(type) != 0 && count > 0)
    return failure(MPI_ERR_BUFFER, "the buffer is null");
  return find_buffer(behind(address, distance), count, type, block);
}

}  // namespace

int Blocks::find(void* address, Counts counts, Displacements displacements, MPI_Datatype type, int members,
                 Blocks& blocks) {
  MPI_Count extent = 0;
  RMA_TRY(find_extent(type, extent));
  if (counts.is_null()) return failure(MPI_ERR_ARG, "the array of counts is null");
  if (displacements.is_null()) return failure(MPI_ERR_ARG, "the array of displacements is null");
  blocks.blocks_.renew(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    RMA_TRY(find_block(address, displacements[member] * extent, counts[member], type,
                       blocks.blocks_[static_cast<std::size_t>(member)]));
  }
  return MPI_SUCCESS;
}

int Blocks::find(void* address, Counts counts, Displacements displacements, const MPI_Datatype types[],
                 int members, Blocks& blocks) {
  if (counts.is_null()) return failure(MPI_ERR_ARG, "the array of counts is null");
  if (displacements.is_null()) return failure(MPI_ERR_ARG, "the array of displacements is null");
  if (types == nullptr) return failure(MPI_ERR_ARG, "the array of types is null");
  blocks.blocks_.renew(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    Buffer& block = blocks.blocks_[static_cast<std::size_t>(member)];
    // Behind MPI_BOTTOM, a displacement of 64 bits is the address of a block, of whatever type.
    RMA_TRY(displacements.can_hold_addresses()
                ? find_buffer(behind(address, displacements[member]), counts[member], types[member], block)
                : find_block(address, displacements[member], counts[member], types[member], block));
  }
  return MPI_SUCCESS;
}

int Blocks::find(void* address, MPI_Count count, MPI_Datatype type, Blocks& blocks) {
  Buffer first;
  MPI_Count extent = 0;
  RMA_TRY(find_buffer(address, count, type, first));
  RMA_TRY(find_extent(type, extent));
  blocks.first_ = first;
  blocks.distance_ = count * extent;
  return MPI_SUCCESS;
}

int Blocks::find_same(const void* address, MPI_Count count, MPI_Datatype type, Blocks& blocks) {
  return find_buffer(address, count, type, blocks.first_);
}

void Blocks::move_to(std::byte* place) {
  first_ = {.data = place, .bytes = first_.bytes};
  distance_ = static_cast<MPI_Count>(first_.bytes);
  for (Buffer& block : blocks_) {
    block = {.data = place, .bytes = block.bytes};
    place += block.bytes;
  }
}

void Blocks::choose(const Blocks& others, const std::vector<int>& members) {
  for (const int member : members) blocks_.push_back(others.of(member));
}

}  // namespace librma::mpi
