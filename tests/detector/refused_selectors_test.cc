#include "detector/refused_selectors.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resources.h"
#include "tests/support/members_fixture.h"

namespace {

using detector::FindRefused;
using detector::RefusedSelectors;
using detector::TemplateFilter;

const kube::Resource kRoles{
    {"rbac.authorization.k8s.io", "v1", "ClusterRole"}, "clusterroles", /*namespaced=*/false};

RefusedSelectors Judge(const std::string& ns, const std::string& selectors) {
  const kube::Resource& resource =
      ns.empty() ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
  kube::Object policy = kube::Object::Make(resource.gvk, {ns, "p"});
  policy.Set({"spec", "resourceSelectors"}, tests::Json(absl::StrCat("[", selectors, "]")));
  return FindRefused(policy, *TemplateFilter::Create("x.io", {"hidden-.*"}),
                     [](const kube::Gvk& gvk) -> std::optional<kube::Resource> {
                       if (gvk == kRoles.gvk) return kRoles;
                       if (gvk == tests::kDeployments.gvk) return tests::kDeployments;
                       return std::nullopt;
                     });
}

constexpr char kDeployment[] = R"({"apiVersion": "apps/v1", "kind": "Deployment"})";
constexpr char kRole[] = R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"})";

TEST_CASE("selectors that may match are not refused") {
  CHECK(Judge("ns", kDeployment).reasons.empty());
  CHECK(Judge("", absl::StrCat(kDeployment, ",", kRole)).reasons.empty());
  CHECK(Judge("", kRole).undecided.empty());
}

TEST_CASE("a namespaced policy selects no cluster-scoped kind and no other namespace") {
  const RefusedSelectors refused = Judge("ns", absl::StrCat(kDeployment, ",", kRole, ",", kRole));
  REQUIRE(refused.reasons.size() == 1);
  CHECK(refused.reasons.front() ==
        "spec.resourceSelectors names rbac.authorization.k8s.io/v1 ClusterRole, which is "
        "cluster-scoped, but a PropagationPolicy selects objects of its own namespace only; a "
        "ClusterPropagationPolicy can select it");
  const auto reasons =
      Judge("ns", R"({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "other"})")
          .reasons;
  REQUIRE(reasons.size() == 1);
  CHECK(absl::StrContains(reasons.front(), "names the namespace other, but"));
}

TEST_CASE("a kind whose scope is not known is judged later") {
  const RefusedSelectors refused = Judge("ns", R"({"apiVersion": "y.io/v1", "kind": "Robot"})");
  CHECK(refused.reasons.empty());
  CHECK(refused.undecided == std::set<kube::Gvk>{{"y.io", "v1", "Robot"}});
}

TEST_CASE("kinds and namespaces that are never propagated are named") {
  const std::string kinds = absl::StrJoin(Judge("", R"({"apiVersion": "v1", "kind": "Event"},
                   {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work"},
                   {"apiVersion": "x.io/v1", "kind": "Robot"})")
                                              .reasons,
                                          "\n");
  CHECK(absl::StrContains(kinds, "names v1 Event, but objects of Karmada's own groups, events"));
  CHECK(absl::StrContains(kinds, "names work.karmada.io/v1alpha1 Work, but"));
  CHECK(absl::StrContains(kinds, "names x.io/v1 Robot, which --skipped-propagating-apis excludes"));
  for (const char* ns : {"karmada-system", "hidden-1"}) {
    const std::vector<std::string> reason = {
        absl::StrCat("objects of the namespace ", ns, " are never propagated")};
    CHECK(Judge(ns, absl::StrCat(kDeployment, ",", kRole)).reasons == reason);
    CHECK(Judge("", absl::StrCat(R"({"apiVersion": "v1", "kind": "Secret", "namespace": ")", ns,
                                 R"("})"))
              .reasons == reason);
  }
}

}  // namespace
