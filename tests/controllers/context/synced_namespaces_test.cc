#include "controllers/context/synced_namespaces.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/resources.h"

namespace {

kube::Object Namespace(const char* name) {
  return kube::Object::Make(api::Namespaces().gvk, {"", name});
}

TEST_CASE("Namespaces go to every cluster unless a flag, a label or their name keeps them") {
  const auto is_synced = controllers::SyncedNamespaces({"kube-.*", "team-[0-9]"});
  REQUIRE(is_synced.ok());
  for (const char* name : {"shop", "team-10", "my-kube-system"}) {
    INFO(name);
    CHECK((*is_synced)(Namespace(name)));
  }
  for (const char* name : {"default", "karmada-system", "karmada-es-m1", "kube-system", "team-1"}) {
    INFO(name);
    CHECK_FALSE((*is_synced)(Namespace(name)));
  }
  kube::Object kept = Namespace("shop");
  kept.SetLabel(api::kSkipAutoPropagationLabel, "True");
  CHECK_FALSE((*is_synced)(kept));
}

TEST_CASE("a flag that is not a regular expression is named") {
  const auto is_synced = controllers::SyncedNamespaces({"("});
  REQUIRE_FALSE(is_synced.ok());
  CHECK(absl::StrContains(is_synced.status().message(), "skipped-propagating-namespaces"));
}

}  // namespace
