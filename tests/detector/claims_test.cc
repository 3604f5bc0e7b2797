#include "detector/claims.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/policy_scope.h"
#include "tests/support/members_fixture.h"

namespace {

using detector::Claim;
using detector::Release;
using tests::kDeployments;
using tests::Parse;
using Namespaced = api::policy_scope::Namespaced;
using Cluster = api::policy_scope::Cluster;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kBinding = {"ns", "web-deployment"};

kube::Object Policy(const std::string& id) {
  kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
  policy.SetLabel(api::kPropagationPolicyIdLabel, id);
  return policy;
}
kube::Object ClusterPolicy() {
  kube::Object policy = kube::Object::Make(api::ClusterPropagationPolicies().gvk, {"", "cp"});
  policy.SetLabel(api::kClusterPropagationPolicyIdLabel, "cp-id");
  return policy;
}

struct Fixture : tests::MembersFixture {
  Fixture() {
    Sync({kDeployments, api::ResourceBindings()});
    Make();
  }

  kube::Object Web() const { return server->Find(kDeployments, kWeb); }
  kube::Object Binding() const { return server->Find(api::ResourceBindings(), kBinding); }
  // Puts template and binding, both claimed by the policy.
  void PutClaimed(const kube::Object& policy) {
    for (const auto& [resource, key] :
         {std::pair{kDeployments, kWeb}, std::pair{api::ResourceBindings(), kBinding}}) {
      kube::Object object = kube::Object::Make(resource.gvk, key);
      object.SetLabel("app", "x");
      Namespaced::Claim(policy, object);
      PutCached(resource, object);
    }
  }
  kube::ObjectPtr Seen() { return cluster.Find(kDeployments, kWeb); }
  absl::Status ReleaseWeb(const kube::ObjectPtr& seen) {
    return Release<Namespaced>(*manager, kDeployments, {seen, detector::kPolicyDeleted}, {});
  }
};

TEST_CASE_METHOD(Fixture, "a claim marks the template with the policy") {
  PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
  const kube::Object policy = Policy("p-id");
  const auto now = Claim<Namespaced>(cluster, kDeployments, {Seen(), &policy}, {});
  REQUIRE(now.ok());
  CHECK(**now == Web());
  CHECK(Web().Label(api::kPropagationPolicyIdLabel) == "p-id");
  CHECK(Web().Annotation(api::kPropagationPolicyNameAnnotation) == "p");
  CHECK(Web().Annotation(api::kPropagationPolicyNamespaceAnnotation) == "ns");
}

TEST_CASE_METHOD(Fixture, "a claim that is there already is not written") {
  PutClaimed(Policy("p-id"));
  const kube::Object policy = Policy("p-id");
  REQUIRE(Claim<Namespaced>(cluster, kDeployments, {Seen(), &policy}, {}).ok());
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a claim that another policy made meanwhile is not overwritten") {
  PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
  const kube::ObjectPtr seen = Seen();
  kube::Object claimed = *seen;
  Namespaced::Claim(Policy("theirs"), claimed);
  PutCached(kDeployments, claimed);
  const kube::Object policy = Policy("p-id");
  CHECK(absl::IsAborted(Claim<Namespaced>(cluster, kDeployments, {seen, &policy}, {}).status()));
  CHECK(Web().Label(api::kPropagationPolicyIdLabel) == "theirs");
}

TEST_CASE_METHOD(Fixture, "a namespaced policy replaces the claim of a cluster policy") {
  kube::Object web = kube::Object::Make(kDeployments.gvk, kWeb);
  Cluster::Claim(ClusterPolicy(), web);
  PutCached(kDeployments, web);
  const kube::Object policy = Policy("p-id");
  REQUIRE(Claim<Namespaced>(cluster, kDeployments, {Seen(), &policy}, {}).ok());
  CHECK_FALSE(Web().labels().Has(api::kClusterPropagationPolicyIdLabel));
  CHECK_FALSE(Web().annotations().Has(api::kClusterPropagationPolicyNameAnnotation));
  CHECK(Web().Label(api::kPropagationPolicyIdLabel) == "p-id");
}

TEST_CASE_METHOD(Fixture,
                 "a release removes the claim from binding and template, and nothing else") {
  PutClaimed(Policy("p-id"));
  REQUIRE(ReleaseWeb(Seen()).ok());
  for (const kube::Object& object : {Web(), Binding()}) {
    CHECK(object.labels() == Parse(R"({"app": "x"})").root());
    CHECK(object.annotations().empty());
  }
  CHECK(server->Requests("PATCH").size() == 2);
  CHECK(server->Requests("PATCH").front() ==
        "PATCH /apis/work.karmada.io/v1alpha2/namespaces/ns/resourcebindings/web-deployment");
  const std::vector<std::string> event = {
      "Normal PolicyReleased Deployment: policy(ns/p) was deleted; its clusters keep the object as "
      "it is there, whatever is edited or overridden, until another policy selects it or it is "
      "deleted."};
  CHECK(recorded->All() == event);
  // Nothing is released a second time.
  const kube::ObjectPtr released = kube::Share(Web());
  REQUIRE(ReleaseWeb(released).ok());
  CHECK(recorded->All() == event);
}

TEST_CASE_METHOD(
    Fixture, "a template whose binding could not be released stays claimed, to be found again") {
  PutClaimed(Policy("p-id"));
  server->FailNext("PATCH", 500, "InternalError");
  CHECK_FALSE(ReleaseWeb(Seen()).ok());
  CHECK(Web().Label(api::kPropagationPolicyIdLabel) == "p-id");
  REQUIRE(ReleaseWeb(Seen()).ok());
  CHECK_FALSE(Web().labels().Has(api::kPropagationPolicyIdLabel));
}

TEST_CASE_METHOD(Fixture, "a binding that another policy has claimed since keeps its claim") {
  PutClaimed(Policy("p-id"));
  kube::Object binding = Binding();
  Namespaced::Claim(Policy("newer-id"), binding);
  PutCached(api::ResourceBindings(), binding);
  REQUIRE(ReleaseWeb(Seen()).ok());
  CHECK(Binding().Label(api::kPropagationPolicyIdLabel) == "newer-id");
  CHECK_FALSE(Web().labels().Has(api::kPropagationPolicyIdLabel));
}

TEST_CASE_METHOD(Fixture, "a claim made after the release looked is not taken away") {
  PutClaimed(Policy("p-id"));
  const kube::ObjectPtr seen = Seen();
  kube::Object web = Web();
  Namespaced::Claim(Policy("newer-id"), web);
  server->Put(kDeployments, web);
  CHECK(absl::IsAborted(ReleaseWeb(seen)));
  CHECK(recorded->All().empty());
  CHECK(Web().Label(api::kPropagationPolicyIdLabel) == "newer-id");
}

TEST_CASE_METHOD(Fixture, "a template that is gone needs no release") {
  PutClaimed(Policy("p-id"));
  const kube::ObjectPtr seen = Seen();
  server->Erase(kDeployments, kWeb);
  CHECK(ReleaseWeb(seen).ok());
  CHECK_FALSE(Binding().labels().Has(api::kPropagationPolicyIdLabel));
  CHECK(recorded->All().empty());
}

}  // namespace
