#include "fortran/transfers.hpp"
#include "util/try.hpp"

namespace librma::fortran {
namespace {

/// Checks the flag of a put with notification.
Status check_flag(const RemoteArray& flag, int rank) {
  RMA_TRY(flag.check("flag"));
  if (flag.type != CFI_type_int64_t || flag.bytes() != sizeof(std::uint64_t) || flag.rank != rank) {
    return {RMA_ERR_ARGUMENT, "flag has to be one integer of 8 bytes in the memory of dst's rank"};
  }
  return {};
}

}  // namespace

Status put_notify(const RemoteArray& dst, const CFI_cdesc_t& src, const RemoteArray& flag,
                  const CFI_cdesc_t& value) {
  RMA_TRY(check_flag(flag, dst.rank));
  RMA_TRY_ASSIGN(number, integer(value, "value"));
  return transfer(remote_side(dst, "dst"), local_side(src, "src"), rma_put_notify, rma_put_strided_notify,
                  reinterpret_cast<std::uint64_t*>(flag.address), static_cast<std::uint64_t>(number),
                  static_cast<int>(dst.rank));
}

}  // namespace librma::fortran
