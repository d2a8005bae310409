// Data representations of files: those of the standard, and those that programs register.

#include "twosided_compat/files/representations.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <list>
#include <mutex>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/buffer.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The representations that exist. They stay, because views point to them.
struct Registered {
  std::mutex lock;  // guards the list
  std::list<Representation> all;
};
Registered& registered() {
  // "internal" is an implementation's own choice, and the same as "native" here.
  static auto* const kRegistered = [] {
    auto* const made = new Registered;
    made->all.emplace_back(Representation::Kind::kNative, "native");
    made->all.emplace_back(Representation::Kind::kNative, "internal");
    made->all.emplace_back(Representation::Kind::kExternal32, "external32");
    return made;
  }();
  return *kRegistered;
}

const Representation* find_in(const std::list<Representation>& all, std::string_view name) {
  for (const Representation& representation : all) {
    if (representation.name() == name) return &representation;
  }
  return nullptr;
}

int register_representation(const char* name, Representation::Conversion read,
                            Representation::Conversion write, MPI_Datarep_extent_function* extent,
                            void* extra) {
  if (name == nullptr || extent == nullptr)
    return failure(MPI_ERR_ARG, "datarep or dtype_file_extent_fn is null");
  const std::size_t length = strnlen(name, MPI_MAX_DATAREP_STRING);
  if (length == 0 || length >= MPI_MAX_DATAREP_STRING)
    return failure(MPI_ERR_ARG, "the name of a representation is empty or too long");
  Registered& list = registered();
  const std::lock_guard guard(list.lock);
  if (find_in(list.all, name) != nullptr)
    return failure(MPI_ERR_DUP_DATAREP, fmt::format("there is a representation {} already", name));
  list.all.emplace_back(name, read, write, extent, extra);
  return MPI_SUCCESS;
}

bool is_null(const Representation::Conversion& conversion) {
  return std::visit([](auto* function) { return function == nullptr; }, conversion);
}

}  // namespace

const Representation& native_representation() { return registered().all.front(); }

const Representation* find_representation(std::string_view name) {
  Registered& list = registered();
  const std::lock_guard guard(list.lock);
  return find_in(list.all, name);
}

int Representation::bytes_of(Datatype& predefined, MPI_Count& bytes) const {
  if (kind_ == Kind::kExternal32)
    return pack_external_size("external32", 1, predefined.handle<MPI_Datatype>(), &bytes);
  MPI_Aint extent = 0;
  RMA_TRY(extent_(predefined.handle<MPI_Datatype>(), &extent, extra_));
  if (extent < 0) return failure(MPI_ERR_CONVERSION, fmt::format("{} has a negative extent", name_));
  bytes = extent;
  return MPI_SUCCESS;
}

int Representation::find_type(Datatype& type, HeldType& made) const {
  if (is_native()) {
    made = HeldType(type);
    return MPI_SUCCESS;
  }
  return make_type_in_file(
      type, [this](Datatype& predefined, MPI_Count& bytes) { return bytes_of(predefined, bytes); }, made);
}

// The program's functions count basic elements. Those of the plain form get as many at a time as an int
// counts.
int Representation::convert(const Conversion& conversion, void* memory, MPI_Count count, const Datatype& type,
                            std::byte* file) const {
  const MPI_Count items = count * type.elements();
  const auto handle = type.handle<MPI_Datatype>();
  if (const auto* const large = std::get_if<MPI_Datarep_conversion_function_c*>(&conversion))
    return (*large)(memory, handle, items, file, 0, extra_);
  if (items > std::numeric_limits<int>::max()) {
    return failure(MPI_ERR_COUNT,
                   fmt::format("{} basic elements are more than the plain form of the functions of {} takes",
                               items, name_));
  }
  return std::get<MPI_Datarep_conversion_function*>(conversion)(memory, handle, static_cast<int>(items), file,
                                                                0, extra_);
}

int Representation::write(const void* memory, MPI_Count count, const Datatype& type, std::byte* file,
                          std::size_t bytes) const {
  MPI_Count position = 0;
  const auto handle = type.handle<MPI_Datatype>();
  if (kind_ == Kind::kExternal32) {
    return pack_external("external32", memory, count, handle, file, static_cast<MPI_Count>(bytes), &position);
  }
  if (!is_null(write_)) return convert(write_, const_cast<void*>(memory), count, type, file);
  return mpi::pack(memory, count, handle, file, static_cast<MPI_Count>(bytes), &position, MPI_COMM_SELF);
}

int Representation::read(void* memory, MPI_Count count, const Datatype& type, std::byte* file,
                         std::size_t bytes) const {
  MPI_Count position = 0;
  const auto handle = type.handle<MPI_Datatype>();
  if (kind_ == Kind::kExternal32) {
    return unpack_external("external32", file, static_cast<MPI_Count>(bytes), &position, memory, count,
                           handle);
  }
  if (!is_null(read_)) return convert(read_, memory, count, type, file);
  return mpi::unpack(file, static_cast<MPI_Count>(bytes), &position, memory, count, handle, MPI_COMM_SELF);
}

int register_datarep(const char* name, MPI_Datarep_conversion_function* read,
                     MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent,
                     void* extra) {
  return register_representation(name, read, write, extent, extra);
}

int register_datarep_c(const char* name, MPI_Datarep_conversion_function_c* read,
                       MPI_Datarep_conversion_function_c* write, MPI_Datarep_extent_function* extent,
                       void* extra) {
  return register_representation(name, read, write, extent, extra);
}

}  // namespace librma::mpi
