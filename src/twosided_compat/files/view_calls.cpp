// Setting views and asking for them, and the pointers of files.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "twosided_compat/binding/checked_arithmetic.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/file.hpp"
#include "twosided_compat/files/shared_pointer.hpp"
#include "twosided_compat/files/sharing.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The arguments of MPI_File_set_view.
struct ViewArguments {
  MPI_Offset displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* representation;
  MPI_Info info;
};

int find_committed(MPI_Datatype handle, Datatype*& type) {
  RMA_TRY(find_datatype(handle).store(type));
  return type->is_committed() ? MPI_SUCCESS : failure(MPI_ERR_TYPE, "the datatype is not committed");
}

int find_named(const char* name, const Representation*& found) {
  if (name == nullptr) return failure(MPI_ERR_ARG, "datarep is null");
  found = find_representation(std::string_view(name, strnlen(name, MPI_MAX_DATAREP_STRING)));
  if (found != nullptr) return MPI_SUCCESS;
  return failure(MPI_ERR_UNSUPPORTED_DATAREP,
                 "the representation is none of the standard's, and was not registered");
}

/// Checks a filetype, as it lies in the file. An etype may have no data: then the filetype has none, either.
int check_filetype(const Datatype& etype, const Datatype& filetype) {
  const MPI_Count unit = etype.size();
  if (unit == 0 ? filetype.size() != 0 : filetype.size() % unit != 0) {
    return failure(MPI_ERR_ARG,
                   fmt::format("the filetype has {} bytes, which are no whole number of etypes of {}",
                               filetype.size(), unit));
  }
  if (filetype.size() > 0 && filetype.bounds().extent <= 0)
    return failure(MPI_ERR_ARG, fmt::format("the filetype has the extent {}", filetype.bounds().extent));
  return MPI_SUCCESS;
}

/// Finds where the view begins.
int find_displacement(const File& file, MPI_Offset given, MPI_Offset& displacement) {
  displacement = given;
  if (given == MPI_DISPLACEMENT_CURRENT) {
    if (!file.is_sequential())
      return failure(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT needs a file opened with MPI_MODE_SEQUENTIAL");
    MPI_Offset position = 0;
    RMA_TRY(advance_shared_pointer(file, 0, position));
    displacement = file.view()->offset_of(position);
    return MPI_SUCCESS;
  }
  if (file.is_sequential())
    return failure(MPI_ERR_ARG, "a file opened with MPI_MODE_SEQUENTIAL needs MPI_DISPLACEMENT_CURRENT");
  return given >= 0 ? MPI_SUCCESS : failure(MPI_ERR_ARG, fmt::format("the displacement is {}", given));
}

int make_view(const File& file, const ViewArguments& arguments, std::shared_ptr<const FileView>& made) {
  RMA_TRY(check_hints(arguments.info));
  Datatype* etype = nullptr;
  Datatype* filetype = nullptr;
  RMA_TRY(find_committed(arguments.etype, etype));
  RMA_TRY(find_committed(arguments.filetype, filetype));
  const Representation* representation = nullptr;
  RMA_TRY(find_named(arguments.representation, representation));
  MPI_Offset displacement = 0;
  RMA_TRY(find_displacement(file, arguments.displacement, displacement));
  HeldType file_etype;
  HeldType file_filetype;
  RMA_TRY(representation->find_type(*etype, file_etype));
  RMA_TRY(representation->find_type(*filetype, file_filetype));
  RMA_TRY(check_filetype(*file_etype, *file_filetype));
  PartsInFile etype_parts;
  PartsInFile parts;
  RMA_TRY(check_in_file(file_etype->layout().bytes(), "etype", etype_parts));
  RMA_TRY(check_in_file(file_filetype->layout().bytes(), "filetype", parts));
  parts.overlap = parts.overlap || etype_parts.overlap;
  if (parts.overlap && (file.amode() & MPI_MODE_RDONLY) == 0)
    return failure(MPI_ERR_IO, "parts of the etype or filetype overlap, and the file may be written");
  made = std::make_shared<const FileView>(FileView::Made{.displacement = displacement,
                                                         .etype = etype,
                                                         .filetype = filetype,
                                                         .representation = representation,
                                                         .file_etype = file_etype.get(),
                                                         .file_filetype = file_filetype.get(),
                                                         .parts = parts});
  return MPI_SUCCESS;
}

/// Returns a number for the representation, which is the same in the views of all members. The standard wants
/// equal extents of their etypes, too; other libraries take all, and programs rely on it.
MPI_Offset number_of_representation(const FileView& view) {
  return static_cast<MPI_Offset>(std::hash<std::string_view>()(view.representation().name()));
}

/// Returns the position of the end of the file in the view, in whole etypes.
int find_end(File& file, const FileView& view, MPI_Offset& end) {
  MPI_Offset size = 0;
  RMA_TRY(file.storage().size(size));
  const MPI_Offset position = view.position_of(size);
  end = (position + view.etype_bytes() - 1) / view.etype_bytes() * view.etype_bytes();
  return MPI_SUCCESS;
}

/// Finds the position that a seek means. `current` is that of the pointer.
int find_target(File& file, MPI_Offset offset, int whence, MPI_Offset current, MPI_Offset& target) {
  const std::shared_ptr<const FileView> view = file.view();
  MPI_Offset base = 0;
  if (whence == MPI_SEEK_CUR) {
    base = current;
  } else if (whence == MPI_SEEK_END) {
    RMA_TRY(find_end(file, *view, base));
  } else if (whence != MPI_SEEK_SET) {
    return failure(MPI_ERR_ARG, fmt::format("whence is {}", whence));
  }
  bool overflows = false;
  target = plus(base, times(offset, view->etype_bytes(), overflows), overflows);
  if (overflows || target < 0)
    return failure(MPI_ERR_ARG, fmt::format("the offset {} leads out of the file", offset));
  return MPI_SUCCESS;
}

int check_no_sequence(const File& file) {
  if (!file.is_sequential()) return MPI_SUCCESS;
  return failure(MPI_ERR_UNSUPPORTED_OPERATION, "the file was opened with MPI_MODE_SEQUENTIAL");
}

}  // namespace

int file_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                  const char* representation, MPI_Info info) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  file->finish_collective_operations();
  std::shared_ptr<const FileView> view;
  const int made = code_of([&] {
    return make_view(*file, {displacement, etype, filetype, representation, info}, view);
  });
  RMA_TRY(check_same(file->comm(), made, "datarep",
                     {made == MPI_SUCCESS ? number_of_representation(*view) : 0, 0}));
  file->hints.take(info);
  RMA_TRY(agree_on_sharing(*file, *view));
  file->set_view(std::move(view));
  // No member uses the shared pointer any more, or already.
  const int set = file->comm().rank() == 0 ? set_shared_pointer(*file, 0) : MPI_SUCCESS;
  return agree(file->comm(), set);
}

int file_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* representation) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  if (displacement == nullptr || representation == nullptr)
    return failure(MPI_ERR_ARG, "disp or datarep is null");
  const std::shared_ptr<const FileView> view = file->view();
  *displacement = view->displacement();
  // The program frees the handles of derived types.
  for (Datatype* const type : {&view->etype(), &view->filetype()}) {
    if (!type->is_predefined()) type->add_handle();
  }
  *etype = view->etype().handle<MPI_Datatype>();
  *filetype = view->filetype().handle<MPI_Datatype>();
  const std::string& name = view->representation().name();
  std::memcpy(representation, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int file_get_type_extent(MPI_File handle, MPI_Datatype datatype, MPI_Count* extent) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  HeldType in_file;
  RMA_TRY(file->view()->representation().find_type(*type, in_file));
  *extent = in_file->bounds().extent;
  return MPI_SUCCESS;
}

int file_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* displacement) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY(check_no_sequence(*file));
  if (displacement == nullptr) return failure(MPI_ERR_ARG, "disp is null");
  const std::shared_ptr<const FileView> view = file->view();
  bool overflows = false;
  const MPI_Offset position = times(offset, view->etype_bytes(), overflows);
  if (offset < 0 || overflows || !view->reaches(position, 1))
    return failure(MPI_ERR_ARG, fmt::format("the offset is {}", offset));
  *displacement = view->offset_of(position);
  return MPI_SUCCESS;
}

int file_seek(MPI_File handle, MPI_Offset offset, int whence) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY(check_no_sequence(*file));
  MPI_Offset target = 0;
  RMA_TRY(find_target(*file, offset, whence, file->pointer(), target));
  file->set_pointer(target);
  return MPI_SUCCESS;
}

int file_get_position(MPI_File handle, MPI_Offset* offset) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY(check_no_sequence(*file));
  if (offset == nullptr) return failure(MPI_ERR_ARG, "offset is null");
  *offset = file->pointer() / file->view()->etype_bytes();
  return MPI_SUCCESS;
}

int file_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY(check_no_sequence(*file));
  file->finish_collective_operations();
  // No member moves the pointer meanwhile: those that have come here wait for rank 0.
  RMA_TRY(check_same(file->comm(), MPI_SUCCESS, "offset and whence", {offset, whence}));
  int code = MPI_SUCCESS;
  if (file->comm().rank() == 0) {
    MPI_Offset current = 0;
    MPI_Offset target = 0;
    code = advance_shared_pointer(*file, 0, current);
    if (code == MPI_SUCCESS) code = find_target(*file, offset, whence, current, target);
    if (code == MPI_SUCCESS) code = set_shared_pointer(*file, target);
  }
  return agree(file->comm(), code);
}

int file_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  RMA_TRY(check_no_sequence(*file));
  if (offset == nullptr) return failure(MPI_ERR_ARG, "offset is null");
  MPI_Offset position = 0;
  RMA_TRY(advance_shared_pointer(*file, 0, position));
  *offset = position / file->view()->etype_bytes();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
