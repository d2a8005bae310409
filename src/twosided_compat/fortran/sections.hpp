#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi.h"
#include "twosided_compat/messages/fortran_sections.hpp"

namespace librma::mpi_fortran {

/// The description of an array, or of a section of one, that a Fortran compiler passes to an entry point.
#ifdef RMA_MPI_MPICH
/// MPICH's procedures are no procedures of C, so they get gfortran's own description (since GCC 9).
struct Description {
  struct Dimension {
    std::ptrdiff_t stride;  // in elements
    std::ptrdiff_t lower;
    std::ptrdiff_t upper;
  };
  void* base_addr;
  std::size_t offset;
  std::size_t elem_len;
  int version;
  signed char rank;
  signed char type;
  short attribute;
  std::ptrdiff_t element_stride;  // bytes between elements whose strides differ by 1
  Dimension dim[CFI_MAX_RANK];    // as many as `rank` says
};
[[nodiscard]] inline std::ptrdiff_t extent_of(const Description& array, int dimension) {
  return array.dim[dimension].upper - array.dim[dimension].lower + 1;
}
/// Returns the bytes between neighbours in a dimension.
[[nodiscard]] inline std::ptrdiff_t stride_of(const Description& array, int dimension) {
  return array.dim[dimension].stride * array.element_stride;
}
#else
using Description = CFI_cdesc_t;
[[nodiscard]] inline std::ptrdiff_t extent_of(const Description& array, int dimension) {
  return array.dim[dimension].extent;
}
/// Returns the bytes between neighbours in a dimension.
[[nodiscard]] inline std::ptrdiff_t stride_of(const Description& array, int dimension) {
  return array.dim[dimension].sm;
}
#endif

/// Returns whether the elements of an array, or of a section of one, lie one after the other.
bool is_contiguous(const Description& array);

/// Where the elements of an array section lie. It stays good after the call that got the compiler's
/// description.
class Section {
 public:
  explicit Section(const Description& array);

  [[nodiscard]] std::size_t bytes() const { return elements_ * element_bytes_; }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] char* base() const { return base_; }
  /// Calls `visit(address)` for each element, in Fortran's order.
  template <class Visit>
  void for_each(Visit visit) const;
  void gather(char* to) const;
  void scatter(const char* from) const;

 private:
  struct Dimension {
    std::ptrdiff_t extent;
    std::ptrdiff_t stride;  // in bytes
  };
  char* base_;
  std::size_t element_bytes_;
  std::size_t elements_ = 1;
  std::vector<Dimension> dimensions_;
};

/// The buffers of one operation. Sections that are not contiguous are copied, and the request of a
/// nonblocking or persistent operation keeps the copies until it has ended.
class StagedSections {
 public:
  StagedSections();
  StagedSections(const StagedSections&) = delete;
  StagedSections& operator=(const StagedSections&) = delete;
  ~StagedSections();

  /// Returns the C address of a buffer: of the array itself, or of a copy of it. An output is what the
  /// operation writes.
  void* place(const Description* array, bool is_output);
  /// Gives the copies to the request that the call has made. Returns `code`, the result of the call.
  int keep(int code, const MPI_Fint* request);
  /// Copies the outputs back, where the operation has ended with the call. Returns `code`.
  int end(int code);

 private:
  class Copies;
  std::unique_ptr<Copies> copies_;
};

/// A buffer of an operation on a window. A section that is not contiguous is described by a datatype. Count
/// is the type of the C function's argument.
template <class Count>
class TypedSection {
 public:
  TypedSection(const Description* array, Count count, MPI_Fint type);
  TypedSection(const TypedSection&) = delete;
  TypedSection& operator=(const TypedSection&) = delete;
  ~TypedSection();

  /// MPI_SUCCESS, or why there is no such datatype.
  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] Count count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  void* address_;
  Count count_;
  MPI_Datatype type_;
  bool is_made_ = false;
  int code_ = MPI_SUCCESS;
};

/// Makes a committed datatype of `count` elements of `element` that lie in a section.
int describe(const Section& section, MPI_Count count, MPI_Datatype element, MPI_Datatype& made);

/// Makes the partitioned operation of a section that is not contiguous. A datatype describes all partitions.
int init_partitions(bool sends, const Description& array, MPI_Fint partitions, MPI_Count count, MPI_Fint type,
                    MPI_Fint peer, MPI_Fint tag, MPI_Fint comm, MPI_Fint info, MPI_Fint* request);

/// Invokes the error handler of a window or a communicator. Returns the code if the handler returns.
int fail(MPI_Win win, int code);
int fail(MPI_Comm comm, int code);

}  // namespace librma::mpi_fortran
