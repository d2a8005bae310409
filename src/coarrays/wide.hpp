#pragma once

namespace librma::coarrays {

/// real(16) and integer(16), which C++ has as extensions only.
__extension__ using Real16 = __float128;
__extension__ using Integer16 = __int128;

}  // namespace librma::coarrays
