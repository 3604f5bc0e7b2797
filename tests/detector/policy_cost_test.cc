// The cost of a policy with thousands of selectors.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <string>

#include "absl/strings/str_cat.h"
#include "detector/policy_reconciler.h"
#include "tests/detector/policies_fixture.h"

namespace {

using tests::kDeployments;

// A policy with `count` selectors, each of which names one of as many templates that wait.
struct ManyTemplates : tests::PoliciesFixture {
  kube::WorkQueue templates{{.name = "templates"}, clock};
  const size_t count;

  explicit ManyTemplates(size_t n) : count(n) {
    informers.Get(api::ResourceBindings())->AddIndex(Namespaced::kIdLabel, [](const kube::Object&) {
      return std::vector<std::string>();
    });
    json::Value selectors = json::Value::Array();
    kube::Object last;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = absl::StrCat("web-", i);
      selectors.Append(
          json::Value::Object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", name}}));
      last = server->Put(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", name}));
      memory.waiting.Add({.key = {"ns", name}, .gvk = kDeployments.gvk});
    }
    REQUIRE(Shows(kDeployments, last));
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, KeyOf("p"));
    policy.SetLabel(Namespaced::kIdLabel, "p-id");
    policy.Set({"spec", "resourceSelectors"}, std::move(selectors));
    policy.Set({"spec", "preemption"}, "Always");
    PutIndexed("p", policy);
  }
  // Returns the processor time of a pass over the policy, and of all matches that follow from it.
  double Cost() {
    detector::PolicyReconciler<Namespaced> pass(*manager, memory, templates,
                                                [](const kube::Object&) { return false; });
    const std::clock_t began = std::clock();
    REQUIRE(pass.Reconcile({.key = KeyOf("p"), .gvk = {}}, {}).ok());
    const size_t queued = templates.size();
    while (templates.size() > 0) {
      const kube::Request request = templates.Get()->request;
      const kube::ObjectPtr object = manager->cluster().Find(kDeployments, request.key);
      if (policies->BestFor("ns", *object) == nullptr) FAIL("the policy names it");
      templates.Done(request);
    }
    REQUIRE(queued == count);
    return static_cast<double>(std::max<std::clock_t>(std::clock() - began, 1));
  }
};

TEST_CASE("a policy with many selectors costs what its templates cost, and no more") {
  ManyTemplates few(1000), many(8000);
  // Eight times as much is right; work that is quadratic would take 64 times as long. One
  // measurement that nothing disturbs is enough to show that it does not.
  double least = many.Cost() / few.Cost();
  for (int tries = 1; tries < 20 && least >= 24; ++tries) {
    least = std::min(least, many.Cost() / few.Cost());
  }
  CHECK(least < 24);
}

}  // namespace
