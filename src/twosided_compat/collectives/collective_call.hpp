#pragma once

#include <cstddef>

#include "mpi.h"
#include "rma/collectives.h"
#include "twosided_compat/collectives/collective_arguments.hpp"
#include "twosided_compat/collectives/short_list.hpp"
#include "twosided_compat/collectives/staged_buffers.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/operators/operators.hpp"
#include "util/try.hpp"

namespace librma::mpi {

class Neighborhood;

/// A collective call: the operation in librma's terms, and all that has to exist until it
/// has ended. The functions of the operations check the arguments of the program and fill it in. They return
/// MPI_SUCCESS or an error class.
class CollectiveCall final : public CollectiveOperation {
 public:
  CollectiveCall() = default;
  ~CollectiveCall() override;
  CollectiveCall(const CollectiveCall&) = delete;
  CollectiveCall& operator=(const CollectiveCall&) = delete;

  [[nodiscard]] int barrier(MPI_Comm comm);
  [[nodiscard]] int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
  [[nodiscard]] int gather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                           MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm comm);
  [[nodiscard]] int gatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                            Counts in_counts, Displacements displacements, MPI_Datatype in_type, int root,
                            MPI_Comm comm);
  [[nodiscard]] int scatter(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                            MPI_Count in_count, MPI_Datatype in_type, int root, MPI_Comm comm);
  [[nodiscard]] int scatterv(const void* out, Counts out_counts, Displacements displacements,
                             MPI_Datatype out_type, void* in, MPI_Count in_count, MPI_Datatype in_type,
                             int root, MPI_Comm comm);
  [[nodiscard]] int allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                              MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                               Counts in_counts, Displacements displacements, MPI_Datatype in_type,
                               MPI_Comm comm);
  [[nodiscard]] int alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                             MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int alltoallv(const void* out, Counts out_counts, Displacements out_displacements,
                              MPI_Datatype out_type, void* in, Counts in_counts,
                              Displacements in_displacements, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
                              const MPI_Datatype out_types[], void* in, Counts in_counts,
                              Displacements in_displacements, const MPI_Datatype in_types[], MPI_Comm comm);
  [[nodiscard]] int reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm);
  [[nodiscard]] int allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm);
  [[nodiscard]] int reduce_scatter(const void* out, void* in, Counts counts, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm);
  [[nodiscard]] int reduce_scatter_block(const void* out, void* in, MPI_Count count, MPI_Datatype type,
                                         MPI_Op op, MPI_Comm comm);
  [[nodiscard]] int scan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm);
  [[nodiscard]] int exscan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm);

  [[nodiscard]] int neighbor_allgather(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                       MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int neighbor_allgatherv(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                        Counts in_counts, Displacements in_displacements,
                                        MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int neighbor_alltoall(const void* out, MPI_Count out_count, MPI_Datatype out_type, void* in,
                                      MPI_Count in_count, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int neighbor_alltoallv(const void* out, Counts out_counts, Displacements out_displacements,
                                       MPI_Datatype out_type, void* in, Counts in_counts,
                                       Displacements in_displacements, MPI_Datatype in_type, MPI_Comm comm);
  [[nodiscard]] int neighbor_alltoallw(const void* out, Counts out_counts, Displacements out_displacements,
                                       const MPI_Datatype out_types[], void* in, Counts in_counts,
                                       Displacements in_displacements, const MPI_Datatype in_types[],
                                       MPI_Comm comm);

  [[nodiscard]] Communicator& comm() const { return *comm_; }
  /// Executes the operation, which was filled in, and stores the results.
  [[nodiscard]] int run();
  /// Starts the operation, which was filled in.
  [[nodiscard]] int start(rma_request_t* request);
  /// Plans the operation, so that restart() can start it many times.
  [[nodiscard]] int plan();
  [[nodiscard]] int restart(rma_request_t* request) const;
  /// Moves the results to their places. Called when the operation has ended well. Returns MPI_ERR_TRUNCATE or
  /// MPI_ERR_COUNT, and moves nothing, if the block that this process sends to itself has another size than
  /// the one that it receives.
  [[nodiscard]] int store_results() const override;

 private:
  /// Finds the communicator, which may have two groups, and the root if the operation has one.
  [[nodiscard]] int find(rma_collective_kind_t kind, const char* name, MPI_Comm comm);
  [[nodiscard]] int find(rma_collective_kind_t kind, const char* name, MPI_Comm comm, int root);
  /// Finds whether the program passed MPI_IN_PLACE for the data that this process gives. MPI_ERR_BUFFER.
  [[nodiscard]] int find_in_place(const void* address, bool& stays) const;
  /// Checks the block that this process sends to itself, and notes the sizes if all blocks are to have one.
  [[nodiscard]] int check_own_block(const Buffer& out, const Buffer& in);
  /// Returns memory for the blocks of all members. If the sizes differ, it stands in for a buffer of the
  /// program. So the call takes part, the others end, and then it fails.
  [[nodiscard]] void* memory_for(int members);
  /// The blocks of all members in one buffer become a list, and stand in it in place of an array.
  using BlockList = ShortList<rma_block_t>;
  static void list(const Blocks& blocks, int members, BlockList& list);
  /// Returns the list if the blocks may have different sizes; else null, because they are an array.
  [[nodiscard]] const rma_block_t* list_uneven(const Blocks& blocks, int members, BlockList& kept) const;
  /// Finds the buffers of the calls that gather, that scatter, and that do both.
  template <typename FindBlocks>
  [[nodiscard]] int find_gather(const void* out, MPI_Count out_count, MPI_Datatype out_type,
                                const FindBlocks& find_blocks, bool everywhere, bool uneven);
  template <typename FindBlocks>
  [[nodiscard]] int find_scatter(const FindBlocks& find_blocks, void* in, MPI_Count in_count,
                                 MPI_Datatype in_type, bool uneven);
  template <typename FindOut, typename FindIn>
  [[nodiscard]] int find_alltoall(const FindOut& find_out, const FindIn& find_in, const void* out_address,
                                  bool uneven);
  /// Find the communicator and the neighbours of this process, and then the blocks that it exchanges with
  /// them.
  [[nodiscard]] int find_neighbors(const char* name, MPI_Comm comm, const Neighborhood*& all);
  template <typename FindOut, typename FindIn>
  [[nodiscard]] int find_exchange(const Neighborhood& all, const FindOut& find_out, const FindIn& find_in);
  void keep_neighbors(const Neighborhood& all, const Blocks& out, const Blocks& in);
  /// Finds the operator and the buffers of a reduction of `count` elements, and keeps the operator and the
  /// type. `result_count`: the elements that this member gets, or kNoResult.
  static constexpr MPI_Count kNoResult = -1;
  [[nodiscard]] int find_reduction(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Count result_count);
  /// Does the rest for a type whose elements cannot be separated, because the data of one lie between those
  /// of
  /// another: all of them together become one element of librma's operation.
  [[nodiscard]] int find_whole_reduction(void* source, void* in, MPI_Count count, MPI_Datatype type,
                                         MPI_Count result_count);

  Communicator* comm_ = nullptr;  // the request that owns this keeps it
  bool at_root_ = false;
  bool takes_part_ = true;  ///< false in the root's group of an intercommunicator, except for the root
  rma_collective_t collective_ = {};
  std::size_t block_sent_ = 0;  ///< bytes, see check_own_block()
  std::size_t block_received_ = 0;
  BlockList to_;
  BlockList from_;
  ShortList<std::size_t> counts_;
  StagedBuffers staged_;
  Reduction reduction_;
  MPI_Count lower_ = 0;          ///< of the type of a reduction: where an element begins, for its operator
  MPI_Count whole_count_ = 0;    ///< elements of the program in one of librma's, if there are several
  Operator* kept_op_ = nullptr;  // of the program, as the next
  Datatype* kept_type_ = nullptr;
  rma_persistent_t persistent_ = nullptr;
};

}  // namespace librma::mpi
