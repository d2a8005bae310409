#include "transport/wireup/secret.hpp"

#include <sys/random.h>

#include <cerrno>

namespace librma::transport {

Result<Secret> make_secret() {
  Secret secret = {};
  if (getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return system_failure(RMA_ERR_SYSTEM, "getrandom", errno);
  }
  return secret;
}

}  // namespace librma::transport
