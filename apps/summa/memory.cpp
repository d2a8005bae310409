#include "memory.hpp"

namespace summa {

Block::Block(apps::Job& job, std::size_t elements)
    : elements_(make_buffer(elements)), count_(elements), addresses_(static_cast<std::size_t>(job.size())) {
  double* const mine = elements_.get();
  job.gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(addresses_)));
}

}  // namespace summa
