#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi.h"
#include "twosided_compat/messages/fortran_sections.hpp"

namespace librma::mpi_fortran {

/// Returns whether the elements of an array, or of a section of one, lie one after the other.
bool is_contiguous(const CFI_cdesc_t& array);

/// Where the elements of an array section lie. It stays good after the call that got the compiler's
/// description.
class Section {
 public:
  explicit Section(const CFI_cdesc_t& array);

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
    CFI_index_t extent;
    CFI_index_t stride;  // in bytes
  };
  char* base_;
  std::size_t element_bytes_;
  std::size_t elements_ = 1;
  std::vector<Dimension> dimensions_;
};

/// The buffers of one nonblocking or persistent operation. Sections that are not contiguous are copied, and
/// the request of the operation keeps the copies until it has ended.
class StagedSections {
 public:
  StagedSections();
  StagedSections(const StagedSections&) = delete;
  StagedSections& operator=(const StagedSections&) = delete;
  ~StagedSections();

  /// Returns the C address of a buffer: of the array itself, or of a copy of it. An output is what the
  /// operation writes.
  void* place(const CFI_cdesc_t* array, bool is_output);
  /// Gives the copies to the request that the call has made. Returns `code`, the result of the call.
  int keep(int code, const MPI_Fint* request);

 private:
  class Copies;
  std::unique_ptr<Copies> copies_;
};

/// A buffer of an operation on a window. A section that is not contiguous is described by a datatype. Count
/// is the type of the C function's argument.
template <class Count>
class TypedSection {
 public:
  TypedSection(const CFI_cdesc_t* array, Count count, MPI_Fint type);
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
int init_partitions(bool sends, const CFI_cdesc_t& array, MPI_Fint partitions, MPI_Count count, MPI_Fint type,
                    MPI_Fint peer, MPI_Fint tag, MPI_Fint comm, MPI_Fint info, MPI_Fint* request);

/// Invokes the error handler of a window or a communicator. Returns the code if the handler returns.
int fail(MPI_Win win, int code);
int fail(MPI_Comm comm, int code);

}  // namespace librma::mpi_fortran
