// MPI_Comm_spawn and MPI_Comm_spawn_multiple, which get arrays of texts.

#include <string>
#include <vector>

#include "twosided_compat/fortran/arguments.hpp"
#include "twosided_compat/fortran/text.hpp"

namespace librma::mpi_fortran {
namespace {

/// Arguments of a command: an array of texts of one length, `stride` texts apart, which a blank one ends.
/// Blanks at both ends of a text do not count (MPI 5.0, section 11.8.2).
class CommandLine {
 public:
  CommandLine(const char* texts, std::size_t length, std::size_t stride) {
    for (std::string word = stripped(texts, length); !word.empty(); word = stripped(texts, length)) {
      words_.push_back(std::move(word));
      texts += length * stride;
    }
  }
  /// Returns them as C wants them, with a null at the end. They are this object's.
  char** data() {
    pointers_.clear();
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

void pmpi_comm_spawn_(const char* command, const char* argv, const MPI_Fint* maxprocs, const MPI_Fint* info,
                      const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes,
                      MPI_Fint* ierror, std::size_t command_length, std::size_t argv_length) {
  const bool has_arguments = !RMA_MPI_IS(argv, argv_null);
  CommandLine line(argv, has_arguments ? argv_length : 0, 1);
  store(ierror,
        PMPI_Comm_spawn(stripped(command, command_length).c_str(),
                        has_arguments ? line.data() : MPI_ARGV_NULL, *maxprocs, handle<MPI_Info>(*info),
                        *root, handle<MPI_Comm>(*comm), HandleOut<MPI_Comm>(intercomm), c_errcodes(codes)));
}
RMA_MPI_FORTRAN_NAMES(mpi_comm_spawn_);

void pmpi_comm_spawn_multiple_(const MPI_Fint* count, const char* commands, const char* argvs,
                               const MPI_Fint* maxprocs, const MPI_Fint* infos, const MPI_Fint* root,
                               const MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes, MPI_Fint* ierror,
                               std::size_t command_length, std::size_t argv_length) {
  const auto size = static_cast<std::size_t>(*count > 0 ? *count : 0);
  const bool has_arguments = !RMA_MPI_IS(argvs, argvs_null);
  std::vector<std::string> names;
  std::vector<CommandLine> lines;
  for (std::size_t i = 0; i < size; ++i) {
    names.push_back(stripped(commands + i * command_length, command_length));
    if (has_arguments) lines.emplace_back(argvs + i * argv_length, argv_length, size);
  }
  std::vector<char*> c_names;
  std::vector<char**> c_lines;
  c_names.reserve(size);
  c_lines.reserve(size);
  for (std::string& name : names) c_names.push_back(name.data());
  for (CommandLine& line : lines) c_lines.push_back(line.data());
  store(ierror,
        PMPI_Comm_spawn_multiple(*count, c_names.data(), has_arguments ? c_lines.data() : MPI_ARGVS_NULL,
                                 maxprocs, HandlesIn<MPI_Info>(infos, *count), *root, handle<MPI_Comm>(*comm),
                                 HandleOut<MPI_Comm>(intercomm), c_errcodes(codes)));
}
RMA_MPI_FORTRAN_NAMES(mpi_comm_spawn_multiple_);

// NOLINTEND(readability-identifier-naming)
}  // extern "C"

}  // namespace librma::mpi_fortran
