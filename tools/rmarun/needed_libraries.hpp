#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "rmarun/environment.hpp"

namespace rmarun {

/// Returns whether the program that execvpe(3) would run needs a library whose name `matches`, by itself or
/// by one of the libraries that it needs. Reads the files' dynamic sections (ELF, DT_NEEDED). Looks for
/// libraries as the dynamic linker would with this environment, but without /etc/ld.so.cache. Returns false
/// for scripts, for files that cannot be read, and for what a program opens by dlopen(3).
[[nodiscard]] bool needs_library(std::string_view program, const Environment& environment,
                                 const std::function<bool(std::string_view)>& matches);

/// Returns whether the program that execvpe(3) would run imports or exports a function whose name begins with
/// `prefix`. Returns false for scripts, and for files that cannot be read.
[[nodiscard]] bool names_function(std::string_view program, std::string_view prefix);

/// Returns the path of a library in LD_LIBRARY_PATH of this environment or in the usual folders, or an empty
/// one.
[[nodiscard]] std::filesystem::path find_library(const std::string& name, const Environment& environment);

}  // namespace rmarun
