#include "rmarun/pmix_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using rmarun::kLongestPmixHostName;
using rmarun::pmix_host_name;

TEST(PmixHostName, KeepsAnOrdinaryName) {
  for (const char* const name : {"a", "node12", "web-0.default.svc", "My_Host", "10.0.0.1"})
    EXPECT_EQ(pmix_host_name(name), name);
  const std::string longest(kLongestPmixHostName, 'h');
  EXPECT_EQ(pmix_host_name(longest), longest);
}

TEST(PmixHostName, ShortensALongNameAndKeepsLongNamesApart) {
  const std::string first = std::string(62, 'h') + "a";
  const std::string second = std::string(62, 'h') + "b";
  EXPECT_EQ(pmix_host_name(first).size(), kLongestPmixHostName);
  EXPECT_EQ(pmix_host_name(first), pmix_host_name(first));
  EXPECT_NE(pmix_host_name(first), pmix_host_name(second));
}

TEST(PmixHostName, ReplacesSeparators) {
  EXPECT_EQ(pmix_host_name("a,b[1-3]").substr(0, 9), "a-b-1-3--");
  EXPECT_EQ(pmix_host_name("a,b").find(','), std::string::npos);
  EXPECT_NE(pmix_host_name("a,b"), pmix_host_name("a;b"));
}

TEST(PmixHostName, NamesANamelessHost) { EXPECT_EQ(pmix_host_name(""), "localhost"); }

}  // namespace
