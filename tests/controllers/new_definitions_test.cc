#include "controllers/cluster_status/new_definitions.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/support/members_fixture.h"

namespace {

kube::Object Work(const std::string& kind, const std::string& status) {
  return tests::Parse(absl::StrCat(
      R"({"metadata": {"namespace": "karmada-es-m1", "name": "w"}, "spec": {"workload": {
          "manifests": [{"kind": "ConfigMap"}, {"kind": ")",
      kind, R"("}]}}, "status": )", status, "}"));
}

TEST_CASE("a definition that has reached a cluster has its status collected early") {
  const kube::Enqueue enqueue = controllers::AfterNewDefinitions();
  const char* applied = R"({"conditions": [{"type": "Applied"}]})";
  const kube::Object before = Work("CustomResourceDefinition", "{}");
  const kube::Object after = Work("CustomResourceDefinition", applied);
  CHECK(enqueue.when.update(before, after));
  CHECK_FALSE(enqueue.when.update(after, after));
  CHECK_FALSE(enqueue.when.update(Work("Secret", "{}"), Work("Secret", applied)));
  CHECK_FALSE(enqueue.when.add(after));
  CHECK_FALSE(enqueue.when.remove(after));
  const std::vector<kube::Request> requests = enqueue.map(after);
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].key == kube::ObjectKey{"", "m1"});
}

}  // namespace
