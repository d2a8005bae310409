#include "twosided_compat/collective_arguments.hpp"

namespace rma::mpi {

int Blocks::find(void* address, Counts counts, Displacements displacements, MPI_Datatype type, int members,
                 Blocks& blocks) {
  std::size_t extent = 0;
  if (const int code = find_extent(type, extent); code != MPI_SUCCESS) return code;
  if (counts.is_null()) return failure(MPI_ERR_ARG, "the array of counts is null");
  if (displacements.is_null()) return failure(MPI_ERR_ARG, "the array of displacements is null");
  blocks.blocks_.resize(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    if (counts[member] < 0) return failure(MPI_ERR_COUNT, "a count is negative");
    Buffer& block = blocks.blocks_[static_cast<std::size_t>(member)];
    block.bytes = static_cast<std::size_t>(counts[member]) * extent;
    block.data =
        static_cast<std::byte*>(address) + displacements[member] * static_cast<std::ptrdiff_t>(extent);
    if (address == nullptr && block.bytes != 0) return failure(MPI_ERR_BUFFER, "the buffer is null");
  }
  return MPI_SUCCESS;
}

int Blocks::find(void* address, Counts counts, Displacements displacements, const MPI_Datatype types[],
                 int members, Blocks& blocks) {
  if (counts.is_null()) return failure(MPI_ERR_ARG, "the array of counts is null");
  if (displacements.is_null()) return failure(MPI_ERR_ARG, "the array of displacements is null");
  if (types == nullptr) return failure(MPI_ERR_ARG, "the array of types is null");
  blocks.blocks_.resize(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    std::size_t extent = 0;
    if (const int code = find_extent(types[member], extent); code != MPI_SUCCESS) return code;
    if (counts[member] < 0) return failure(MPI_ERR_COUNT, "a count is negative");
    Buffer& block = blocks.blocks_[static_cast<std::size_t>(member)];
    block.bytes = static_cast<std::size_t>(counts[member]) * extent;
    block.data = static_cast<std::byte*>(address) + displacements[member];
    if (address == nullptr && block.bytes != 0) return failure(MPI_ERR_BUFFER, "the buffer is null");
  }
  return MPI_SUCCESS;
}

int Blocks::find(void* address, MPI_Count count, MPI_Datatype type, int members, Blocks& blocks) {
  Buffer first;
  if (const int code = find_buffer(address, count, type, first); code != MPI_SUCCESS) return code;
  blocks.blocks_.resize(static_cast<std::size_t>(members));
  for (std::size_t member = 0; member < blocks.blocks_.size(); ++member) {
    blocks.blocks_[member] = {.data = first.data + member * first.bytes, .bytes = first.bytes};
  }
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
