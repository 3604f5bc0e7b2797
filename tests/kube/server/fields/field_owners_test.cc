#include "kube/server/fields/field_owners.h"

#include <catch2/catch.hpp>

#include "absl/strings/substitute.h"
#include "base/json.h"

namespace kube::server {

TEST_CASE("what differs in the times of owners alone is no change") {
  const auto object = [](const char* time, const char* value) {
    return Object(*json::Parse(absl::Substitute(
        R"({"data": {"a": "$1"}, "metadata": {"name": "x", "managedFields": [
          {"manager": "m", "operation": "Update", "time": "$0", "fieldsV1": {"f:data": {}}}]}})",
        time, value)));
  };
  const Object current = object("2026-01-01T00:00:00Z", "1");
  Object wanted = object("2026-01-01T00:00:01Z", "1");
  TakeTimesIfEqual(current, wanted);
  CHECK(wanted == current);
  const Object changed = object("2026-01-01T00:00:01Z", "2");
  wanted = changed;
  TakeTimesIfEqual(current, wanted);
  CHECK(wanted == changed);
  Object without = current;
  without.Erase({"metadata", "managedFields"});
  wanted = without;
  TakeTimesIfEqual(current, wanted);
  CHECK(wanted == without);
}

TEST_CASE("the manager of a request is the program in its User-Agent") {
  CHECK(ManagerOfUserAgent("kubectl/v1.35.0 (linux/amd64) kubernetes/abc") == "kubectl");
  CHECK(ManagerOfUserAgent("") == "unknown");
}

}  // namespace kube::server
