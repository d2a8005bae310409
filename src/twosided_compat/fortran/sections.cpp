// Array sections as buffers, as the compiler describes them.

#include "twosided_compat/fortran/sections.hpp"

#include <algorithm>
#include <cstring>

#include "twosided_compat/fortran/handles.hpp"
#include "twosided_compat/fortran/sentinels.hpp"
#include "util/try.hpp"

namespace librma::mpi_fortran {

bool is_contiguous(const Description& array) {
  auto next = static_cast<std::ptrdiff_t>(array.elem_len);
  for (int i = 0; i < array.rank; ++i) {
    const std::ptrdiff_t extent = extent_of(array, i);
    if (extent <= 0) return true;  // empty, or the last dimension of an assumed-size array
    if (extent > 1 && stride_of(array, i) != next) return false;
    next *= extent;
  }
  return true;
}

Section::Section(const Description& array)
    : base_(static_cast<char*>(array.base_addr)), element_bytes_(array.elem_len) {
  for (int i = 0; i < array.rank; ++i) {
    dimensions_.push_back({.extent = extent_of(array, i), .stride = stride_of(array, i)});
    elements_ *= static_cast<std::size_t>(extent_of(array, i));
  }
}

template <class Visit>
void Section::for_each(Visit visit) const {
  std::vector<std::ptrdiff_t> index(dimensions_.size(), 0);
  char* address = base_;
  for (std::size_t left = elements_; left > 0; --left) {
    visit(address);
    for (std::size_t d = 0; d < index.size(); ++d) {
      address += dimensions_[d].stride;
      if (++index[d] < dimensions_[d].extent) break;
      address -= dimensions_[d].extent * dimensions_[d].stride;
      index[d] = 0;
    }
  }
}

void Section::gather(char* to) const {
  for_each([&](const char* element) {
    std::memcpy(to, element, element_bytes_);
    to += element_bytes_;
  });
}

void Section::scatter(const char* from) const {
  for_each([&](char* element) {
    std::memcpy(element, from, element_bytes_);
    from += element_bytes_;
  });
}

class StagedSections::Copies : public mpi::StagedData {
 public:
  void* add(const Description& array, bool is_output) {
    Copy& copy =
        all_.emplace_back(Copy{.section = Section(array), .memory = nullptr, .is_output = is_output});
    copy.memory = std::make_unique<char[]>(copy.section.bytes());
    // Also where data arrive: a message may be shorter than the section.
    copy.section.gather(copy.memory.get());
    return copy.memory.get();
  }

 private:
  void gather() override {
    for (const Copy& copy : all_) copy.section.gather(copy.memory.get());
  }
  void scatter() override {
    for (const Copy& copy : all_) {
      if (copy.is_output) copy.section.scatter(copy.memory.get());
    }
  }

  struct Copy {
    Section section;
    std::unique_ptr<char[]> memory;
    bool is_output;
  };
  std::vector<Copy> all_;
};

StagedSections::StagedSections() = default;
StagedSections::~StagedSections() = default;

void* StagedSections::place(const Description* array, bool is_output) {
  if (is_contiguous(*array)) return c_buffer(array->base_addr);
  if (copies_ == nullptr) copies_ = std::make_unique<Copies>();
  return copies_->add(*array, is_output);
}

int StagedSections::keep(int code, const MPI_Fint* request) {
  if (copies_ == nullptr || code != MPI_SUCCESS) return code;
  rma_mpi_fortran_keep_staged(handle<MPI_Request>(*request), copies_.release());
  return code;
}

int StagedSections::end(int code) {
  if (copies_ != nullptr) copies_->store();
  return code;
}

int describe(const Section& section, MPI_Count count, MPI_Datatype element, MPI_Datatype& made) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count size = 0;
  RMA_TRY(PMPI_Type_get_extent_c(element, &lower, &extent));
  RMA_TRY(PMPI_Type_size_c(element, &size));
  const auto bytes = static_cast<MPI_Count>(section.element_bytes());
  // An element of the array holds whole elements of the datatype, which have no holes.
  if (lower != 0 || size != extent || size == 0 || bytes % size != 0) return MPI_ERR_TYPE;
  if (count < 0 || count > static_cast<MPI_Count>(section.elements()) * (bytes / size)) return MPI_ERR_COUNT;
  std::vector<MPI_Count> places;
  places.reserve(static_cast<std::size_t>(count));
  section.for_each([&](const char* address) {
    for (MPI_Count inner = 0; inner < bytes && static_cast<MPI_Count>(places.size()) < count; inner += size) {
      places.push_back(address - section.base() + inner);
    }
  });
  RMA_TRY(PMPI_Type_create_hindexed_block_c(count, 1, places.data(), element, &made));
  return PMPI_Type_commit(&made);
}

template <class Count>
TypedSection<Count>::TypedSection(const Description* array, Count count, MPI_Fint type)
    : address_(c_buffer(array->base_addr)), count_(count), type_(handle<MPI_Datatype>(type)) {
  if (is_contiguous(*array)) return;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  code_ = describe(Section(*array), count, type_, made);
  if (code_ != MPI_SUCCESS) return;
  type_ = made;
  count_ = 1;
  is_made_ = true;
}

template <class Count>
TypedSection<Count>::~TypedSection() {
  if (is_made_) static_cast<void>(PMPI_Type_free(&type_));
}

template class TypedSection<int>;
template class TypedSection<MPI_Count>;

int init_partitions(bool sends, const Description& array, MPI_Fint partitions, MPI_Count count, MPI_Fint type,
                    MPI_Fint peer, MPI_Fint tag, MPI_Fint comm, MPI_Fint info, MPI_Fint* request) {
  const auto owner = handle<MPI_Comm>(comm);
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Count total = 0;
  // The call itself refuses a number of partitions that is not positive.
  if (__builtin_mul_overflow(count, static_cast<MPI_Count>(std::max(partitions, 1)), &total))
    return fail(owner, MPI_ERR_COUNT);
  if (const int code = describe(Section(array), total, handle<MPI_Datatype>(type), whole);
      code != MPI_SUCCESS)
    return fail(owner, code);
  HandleOut<MPI_Request> made(request);
  const int code = rma_mpi_fortran_init_partitions(sends ? 1 : 0, array.base_addr, partitions, whole, peer,
                                                   tag, owner, handle<MPI_Info>(info), made);
  static_cast<void>(PMPI_Type_free(&whole));
  return code;
}

int fail(MPI_Win win, int code) {
  static_cast<void>(PMPI_Win_call_errhandler(win, code));
  return code;
}

int fail(MPI_Comm comm, int code) {
  static_cast<void>(PMPI_Comm_call_errhandler(comm, code));
  return code;
}

}  // namespace librma::mpi_fortran
