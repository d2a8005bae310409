// The images of the current team that have stopped or failed.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"

namespace librma::coarrays {
namespace {

/// Returns 0 for an image that runs, or the value of stat= for one that has ended.
int status_of(int rank) {
  const std::uint64_t end = load(meetings.partners()[rank].end);
  if (end == 0) return 0;
  return end == kFailed ? kFailedImage : kStoppedImage;
}

/// Returns the indices of the images with that status in the team, or in the current one if `team` is null.
std::vector<int> images_with(int status, const Team* team) {
  const std::vector<int>& ranks = (team != nullptr ? team : current.team)->ranks;
  std::vector<int> images;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (status_of(ranks[i]) == status) images.push_back(static_cast<int>(i) + 1);
  }
  return images;
}

template <typename Integer>
void* copy_of(const std::vector<int>& values) {
  auto* const copy =
      static_cast<Integer*>(std::malloc(std::max<std::size_t>(values.size(), 1) * sizeof(Integer)));
  if (copy == nullptr) die("no memory for a list of images");
  std::copy(values.begin(), values.end(), copy);
  return copy;
}

/// Makes `array` an allocated list of integers of that kind.
void fill(Descriptor& array, const std::vector<int>& values, const int* kind) {
  const int bytes = kind != nullptr ? *kind : static_cast<int>(sizeof(int));
  switch (bytes) {
    case 1:
      array.data = static_cast<std::byte*>(copy_of<std::int8_t>(values));
      break;
    case 2:
      array.data = static_cast<std::byte*>(copy_of<std::int16_t>(values));
      break;
    case 4:
      array.data = static_cast<std::byte*>(copy_of<std::int32_t>(values));
      break;
    case 8:
      array.data = static_cast<std::byte*>(copy_of<std::int64_t>(values));
      break;
    default:
      die("a list of images has integers of 1, 2, 4 or 8 bytes");
  }
  array.element_bytes = static_cast<std::size_t>(bytes);
  array.version = 0;
  array.rank = 1;
  array.type = kInteger;
  array.attribute = 0;
  array.span = bytes;
  array.offset = 0;
  array.dim[0] = {.stride = 1, .lower = 0, .upper = static_cast<std::ptrdiff_t>(values.size()) - 1};
}

}  // namespace

// The compiler passes distance 0 only. `failed` is -1 for all images, 1 for those that have failed, and 0 for
// the others.
int caf_num_images(int /*distance*/, int failed) {
  const int all = static_cast<int>(current.images);
  if (failed < 0) return all;
  const int lost = static_cast<int>(images_with(kFailedImage, nullptr).size());
  return failed == 1 ? lost : all - lost;
}

// The compiler passes -1 for the absent team.
int caf_image_status(int image, Team* /*team*/) {
  const int rank = rank_of(image);
  if (rank < 0) refuse_image({}, image);
  return status_of(rank);
}

void caf_failed_images(Descriptor* images, Team* team, const int* kind) {
  fill(*images, images_with(kFailedImage, team), kind);
}

void caf_stopped_images(Descriptor* images, Team* team, const int* kind) {
  fill(*images, images_with(kStoppedImage, team), kind);
}

}  // namespace librma::coarrays
