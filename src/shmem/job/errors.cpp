#include "shmem/job/errors.hpp"

namespace librma::shmem {

void die(Call call, std::string_view text) {
  const int pe = rma_rank();
  rma_abort(
      1,
      (pe >= 0 ? fmt::format("PE {}: {}: {}", pe, call, text) : fmt::format("{}: {}", call, text)).c_str());
  __builtin_unreachable();  // rma_abort does not return
}

}  // namespace librma::shmem
