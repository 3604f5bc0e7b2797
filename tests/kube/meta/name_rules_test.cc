#include <catch2/catch.hpp>

#include "kube/meta/selector.h"
#include "tests/kube/meta/truth_table.h"

namespace {

TEST_CASE("names and label values pass or fail with apimachinery's messages") {
  const struct {
    const char* rule;
    absl::Status (*validate)(absl::string_view);
  } rules[] = {{"qualifiedName", kube::ValidateQualifiedName},
               {"labelValue", kube::ValidateLabelValue},
               {"dns1123Subdomain", kube::ValidateDns1123Subdomain},
               {"dns1123Label", kube::ValidateDns1123Label},
               {"pathSegmentName", kube::ValidatePathSegmentName}};
  const json::Value table = kube_test::LoadTable("selectors.json");
  REQUIRE(table["names"].size() > 30);
  for (const json::Value& row : table["names"].items()) {
    for (const auto& rule : rules) {
      INFO(rule.rule << " of " << json::Write(row["name"]));
      const absl::Status status = rule.validate(row["name"].AsString());
      CHECK(status.ok() == row[rule.rule].AsString().empty());
      CHECK(std::string(status.message()) == row[rule.rule].ToString());
    }
  }
}

}  // namespace
