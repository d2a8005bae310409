// random_init.

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"

/// Seeds libgfortran's generator. Each argument may be null; if all are, the seed is the system's.
extern "C" void seed_generator(int* size, librma::coarrays::Descriptor* put,
                               librma::coarrays::Descriptor* get) __asm__("_gfortran_random_seed_i4");

namespace librma::coarrays {
namespace {

/// Returns the number of this run, which image 1 drew when it started. All images get the same.
std::uint64_t run_number() {
  std::uint64_t number = 0;
  require(rma_get(&number, &meetings.of(0)->run, sizeof number, 0));
  return number;
}

std::uint64_t mix(std::uint64_t number) {
  number = (number ^ number >> 30U) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27U) * 0x94d049bb133111eb;
  return number ^ number >> 31U;
}

/// Seeds the generator by numbers that `number` determines. SplitMix64: G. Steele, D. Lea, C. Flood, Fast
/// splittable pseudorandom number generators, OOPSLA 2014.
void seed_by(std::uint64_t number) {
  number = mix(number);
  constexpr int kMostWords = 64;
  std::array<std::int32_t, kMostWords> words;
  int size = 0;
  seed_generator(&size, nullptr, nullptr);
  if (size > kMostWords) die("libgfortran's generator has a larger seed than this library knows");
  for (std::int32_t& word : words) {
    number += 0x9e3779b97f4a7c15;
    word = static_cast<std::int32_t>(mix(number) >> 32U);
  }
  Descriptor seed = {};
  seed.data = reinterpret_cast<std::byte*>(words.data());
  seed.element_bytes = sizeof words[0];
  seed.rank = 1;
  seed.type = kInteger;
  seed.span = sizeof words[0];
  seed.dim[0] = {.stride = 1, .lower = 1, .upper = size};
  seed_generator(nullptr, &seed, nullptr);
}

}  // namespace

void draw_run_number() {
  // Without random numbers of the system, runs are alike.
  static_cast<void>(getrandom(&meetings.mine->run, sizeof meetings.mine->run, 0));
}

void caf_random_init(bool repeatable, bool image_distinct) {
  if (!repeatable && image_distinct) return seed_generator(nullptr, nullptr, nullptr);
  const std::uint64_t number = repeatable ? 0 : run_number();
  seed_by(number + (image_distinct ? static_cast<std::uint64_t>(rma_rank()) : 0));
}

}  // namespace librma::coarrays
