// A member with a Service of which slices are collected, for the tests of both collectors.
#ifndef TESTS_CONTROLLERS_SLICE_COLLECTION_FIXTURE_H_
#define TESTS_CONTROLLERS_SLICE_COLLECTION_FIXTURE_H_

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/names.h"
#include "controllers/slice_collection/register.h"
#include "tests/support/loops_fixture.h"
#include "works/collected_slices.h"

namespace tests {

class SliceCollectionFixture : public LoopsFixture {
 public:
  FakeApiServer& m1 = member("m1");

  SliceCollectionFixture() {
    Sync({api::Works(), api::Clusters(), api::Namespaces(), api::Secrets()});
    PutCluster("Push", "True");
    PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"}));
    Make();
  }
  void Collect(api::SliceCollector collector) {
    const auto registered = collector == api::SliceCollector::kServiceExport
                                ? controllers::RegisterServiceExport(Context(), 1)
                                : controllers::RegisterEndpointSliceCollect(Context(), 1);
    REQUIRE(registered.ok());
  }
  // As a restart does.
  void Restart(api::SliceCollector collector) {
    REQUIRE(Finish().ok());
    stop = {};
    members.Remove("m1");
    Make();
    Collect(collector);
    Start();
  }

  void PutCluster(const char* mode, const char* ready, const std::string& more_status = "") {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"spec", "syncMode"}, mode);
    c.Set({"status"}, Json(absl::StrCat(R"({"conditions": [{"type": "Ready", "status": ")", ready,
                                        R"("}, {"type": "CompleteAPIEnablements",
                                                "status": "True"}])",
                                        more_status, "}")));
    PutCached(api::Clusters(), c);
  }
  // Puts the Work that asks for slices: of a ServiceExport that is applied, or of a
  // MultiClusterService.
  void PutAskingWork(const kube::Resource& kind, const std::string& name = "web",
                     const std::string& cluster = "m1") {
    kube::Object manifest = kube::Object::Make(kind.gvk, {"shop", name});
    manifest.SetAnnotation(api::kTemplateUidAnnotation, "template");
    kube::Object work = kube::Object::Make(api::Works().gvk, AskingWork(kind, name, cluster));
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    work.Set({"status", "conditions"}, Json(R"([{"type": "Applied", "status": "True"}])"));
    PutCached(api::Works(), work);
  }
  static kube::ObjectKey AskingWork(const kube::Resource& kind, const std::string& name = "web",
                                    const std::string& cluster = "m1") {
    return {api::ExecutionNamespace(cluster), api::WorkName(kind.gvk.kind, name, "shop")};
  }
  void PutExport(const std::string& name = "web") {
    m1.Put(api::ServiceExports(), kube::Object::Make(api::ServiceExports().gvk, {"shop", name}));
  }
  static kube::Object Slice(const std::string& name, const std::string& address = "10.0.0.1",
                            const std::string& service = "web") {
    kube::Object slice = kube::Object::Make(api::EndpointSlices().gvk, {"shop", name});
    slice.SetLabel(api::kServiceNameLabel, service);
    slice.Set({"addressType"}, "IPv4");
    slice.Set({"endpoints"}, Json(absl::StrCat(R"([{"addresses": [")", address, R"("]}])")));
    return slice;
  }
  void PutSlice(const std::string& name, const std::string& address = "10.0.0.1",
                const std::string& service = "web") {
    m1.Put(api::EndpointSlices(), Slice(name, address, service));
  }

  kube::Object WorkOf(const std::string& slice) const {
    return server->Find(api::Works(), works::WorkOfSlice("m1", {"shop", slice}));
  }
  bool HasWork(const std::string& slice) const {
    const kube::Object work = WorkOf(slice);
    return !work.empty() && !work.IsDeleting();
  }
  std::string AddressIn(const std::string& slice) const {
    return WorkOf(slice)
        .Get({"spec", "workload", "manifests"})
        .At(0)["endpoints"]
        .At(0)["addresses"]
        .At(0)
        .ToString();
  }
  // Lets time pass until it holds.
  bool InTime(const std::function<bool()>& condition) {
    return Eventually([&] {
      if (condition()) return true;
      clock.Advance(absl::Milliseconds(100));
      return condition();
    });
  }
  // Lets at most a minute pass until it holds, which is less than a lasting failure waits.
  bool WithinAMinute(const std::function<bool()>& condition) {
    int seconds = 0;
    return Eventually([&] {
      if (condition()) return true;
      if (seconds++ < 60) clock.Advance(absl::Seconds(1));
      return condition();
    });
  }
  // Returns whether it stays so while time passes.
  bool Stays(const std::function<bool()>& condition) {
    for (int i = 0; i < 50; ++i) {
      if (!condition()) return false;
      clock.Advance(absl::Milliseconds(100));
      absl::SleepFor(absl::Milliseconds(2));
    }
    return condition();
  }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
  // Returns how many watches of this kind the member has been asked for.
  size_t Watches(const kube::Resource& kind) {
    size_t count = 0;
    for (const std::string& request : m1.Requests("WATCH")) {
      if (absl::StrContains(request, kind.plural)) ++count;
    }
    return count;
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_SLICE_COLLECTION_FIXTURE_H_
