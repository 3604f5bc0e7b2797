#include "base/descriptors.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace {

TEST_CASE("the soft limit of descriptors becomes the hard one") {
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  const auto raised = base::RaiseDescriptorLimit();
  REQUIRE(raised.ok());
  rlimit after;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  CHECK(*raised == static_cast<long long>(before.rlim_max));
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
