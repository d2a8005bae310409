#include "transport/provider.hpp"

#include <gtest/gtest.h>

#include <span>

#include "util/settings.hpp"

namespace librma::transport {
namespace {

#ifdef RMA_HAS_OFI
constexpr bool kHasOfi = true;
#else
constexpr bool kHasOfi = false;  // built without libfabric
#endif

TEST(Providers, EveryNetworkThatTheSettingNamesIsOne) {
  for (const std::string_view name : std::span(kNetworkNames).subspan(2)) {
    if (name == "ofi" && !kHasOfi) continue;  // the last
    const Provider* const provider = find_provider(name);
    ASSERT_NE(provider, nullptr) << name;
    EXPECT_EQ(provider->name, name);
  }
  EXPECT_EQ(providers().size(), kNetworkNames.size() - (kHasOfi ? 2 : 3))
      << "each has its word in RMA_NETWORK";
}

TEST(Providers, NoOtherNameIs) {
  for (const std::string_view name : {"", "auto", "off", "verb", "verbs2"}) {
    EXPECT_EQ(find_provider(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace librma::transport
