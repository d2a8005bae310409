#include "malloc/sealed_file.hpp"

#include <sys/resource.h>

#include "util/text.hpp"

namespace librma {

Status check_file_size_limit(std::string_view file, std::size_t bytes, std::string_view remedy) {
  rlimit file_size{};
  if (::getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur != RLIM_INFINITY &&
      file_size.rlim_cur < bytes) {
    return {RMA_ERR_NO_MEMORY,
            text("{} is a file of {} addresses, and this process may make files of at most {} "
                 "bytes (ulimit -f); raise that, or {}",
                 file, bytes, file_size.rlim_cur, remedy)};
  }
  return {};
}

}  // namespace librma
