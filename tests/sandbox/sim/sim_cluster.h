// One simulated cluster without its front end, on a clock that the test moves.
//
//   SimCluster cluster;
//   Deployments deployments(cluster.backend, cluster.loop);
//   cluster.Create(R"({...})");
//   cluster.Settle();                            // Everything that is due has happened.
//   cluster.Advance(absl::Seconds(1));           // The same after the clock has moved.
#ifndef TESTS_SANDBOX_SIM_SIM_CLUSTER_H_
#define TESTS_SANDBOX_SIM_SIM_CLUSTER_H_

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kube/meta/object.h"
#include "kube/meta/selector.h"
#include "sandbox/sim/event_loop.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/write/server_backend.h"
#include "tests/support/fake_clock.h"

namespace sandbox {

inline json::Value Json(absl::string_view text) {
  const auto value = json::Parse(text);
  INFO(value.status());
  REQUIRE(value.ok());
  return *value;
}

class SimCluster {
 public:
  tests::FakeClock clock;
  ServerBackend backend{1000};
  EventLoop loop{clock};

  void Settle() { loop.WaitIdle(); }
  void Advance(absl::Duration d) {
    Settle();
    clock.Advance(d);
    Settle();
  }

  kube::ObjectPtr Create(json::Value object) {
    const kube::Object wanted(std::move(object));
    const auto created = backend.Create(GvrOf(wanted), wanted, false);
    INFO(created.status());
    REQUIRE(created.ok());
    return *created;
  }
  kube::ObjectPtr Create(const char* text) { return Create(Json(text)); }

  // Returns nullptr when it is not there.
  kube::ObjectPtr Get(const kube::Resource& r, const std::string& ns, const std::string& name) {
    const auto found = backend.Get(r.gvr(), {ns, name});
    return found.ok() ? *found : nullptr;
  }
  std::vector<kube::ObjectPtr> List(const kube::Resource& r, const std::string& ns = "") {
    const auto list = backend.List(r.gvr(), ns, kube::LabelSelector());
    REQUIRE(list.ok());
    return *list;
  }
  void Patch(const kube::Resource& r, const std::string& ns, const std::string& name,
             absl::string_view patch, const std::string& subresource = "") {
    PatchRequest request;
    request.patch = Json(patch);
    request.subresource = subresource;
    const auto patched = backend.Patch(r.gvr(), {ns, name}, request);
    INFO(patched.status());
    REQUIRE(patched.ok());
  }
  void Delete(const kube::Resource& r, const std::string& ns, const std::string& name,
              const std::string& propagation = "Background") {
    DeleteRequest request;
    request.propagation = propagation;
    const auto deleted = backend.Delete(r.gvr(), {ns, name}, request);
    INFO(deleted.status());
    REQUIRE(deleted.ok());
  }

 private:
  kube::Gvr GvrOf(const kube::Object& object) const {
    const kube::Resource resource = backend.Find(object.gvk());
    INFO(object.Describe());
    REQUIRE_FALSE(resource.gvk.empty());
    return resource.gvr();
  }
};

}  // namespace sandbox

#endif  // TESTS_SANDBOX_SIM_SIM_CLUSTER_H_
