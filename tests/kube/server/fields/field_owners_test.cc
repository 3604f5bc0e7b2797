#include "kube/server/fields/field_owners.h"

#include <catch2/catch.hpp>

namespace kube::server {

TEST_CASE("the manager of a request is the program in its User-Agent") {
  CHECK(ManagerOfUserAgent("kubectl/v1.35.0 (linux/amd64) kubernetes/abc") == "kubectl");
  CHECK(ManagerOfUserAgent("") == "unknown");
}

}  // namespace kube::server
