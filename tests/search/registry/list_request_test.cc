#include "search/registry/list_request.h"

#include <catch2/catch.hpp>

namespace search {
namespace {

TEST_CASE("a watch lasts as long as its client or the server's flag says") {
  kube::server::ListOptions options;
  for (int i = 0; i < 20; ++i) {
    const auto request = RegistryWatchRequest::Of(options, absl::Seconds(10));
    REQUIRE(request.ok());
    CHECK(request->timeout >= absl::Seconds(10));
    CHECK(request->timeout <= absl::Seconds(20));
  }
  options.timeout = absl::Seconds(3);
  CHECK(RegistryWatchRequest::Of(options, absl::Seconds(10))->timeout == absl::Seconds(3));
}

}  // namespace
}  // namespace search
