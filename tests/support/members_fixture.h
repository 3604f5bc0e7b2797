// A manager whose control plane and member clusters are fake servers.
//
//   struct Fixture : tests::MembersFixture {};
//   server->Put(api::Works(), work);         // In the control plane.
//   member("m1").Put(kConfigMaps, object);   // In the member cluster m1.
#ifndef TESTS_SUPPORT_MEMBERS_FIXTURE_H_
#define TESTS_SUPPORT_MEMBERS_FIXTURE_H_

#include <catch2/catch.hpp>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/keys.h"
#include "api/resources.h"
#include "interpreter/interpreter.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/cluster_set.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/recording_events.h"
#include "works/member_objects.h"

namespace tests {

inline const kube::Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};
inline const kube::Resource kDeployments{{"apps", "v1", "Deployment"}, "deployments", true};
inline const kube::Resource kServices{{"", "v1", "Service"}, "services", true};

inline json::Value Json(absl::string_view text) {
  auto value = json::Parse(text);
  INFO(text);
  REQUIRE(value.ok());
  return *std::move(value);
}
inline kube::Object Parse(absl::string_view text) { return kube::Object(Json(text)); }

// A member exists once its server was asked for. The loops behave as Karmada v1.18 unless `repairs`
// says otherwise.
class MembersFixture : public ManagerFixture, public kube::ClusterConfigSource {
 public:
  explicit MembersFixture(works::Repairs repairs = works::Repairs::kByObject) : repairs_(repairs) {
    kube::Discovery discovery;
    for (const kube::Resource& r :
         {kConfigMaps, kDeployments, kServices, kPods, api::Namespaces()}) {
      discovery.resources.push_back({.resource = r, .verbs = {}, .preferred = true});
    }
    mapper.Update(discovery);
    auto recording = std::make_unique<RecordingEvents>();
    recorded = recording.get();
    events = std::move(recording);
  }

  // The loops use the members below, so they are ended first.
  ~MembersFixture() override {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    manager.reset();
  }

  RecordingEvents* recorded = nullptr;  // Records all events.

  FakeApiServer& member(const std::string& name) {
    std::shared_ptr<FakeApiServer>& slot = servers_[name];
    if (slot == nullptr) slot = std::make_shared<FakeApiServer>();
    return *slot;
  }

  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& name) override {
    if (!servers_.contains(name)) return absl::NotFoundError("no cluster " + name);
    kube::ConnectionConfig config;
    config.server = name;
    return config;
  }

  // Starts and syncs the control plane's informers that a test reads from.
  void Sync(std::initializer_list<kube::Resource> resources) {
    for (const kube::Resource& r : resources) {
      REQUIRE(informers.Get(r)->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    }
  }
  // Waits until the cache has this version of the object, and its handlers were told.
  bool Shows(const kube::Resource& r, const kube::Object& stored) {
    const std::shared_ptr<kube::Informer> informer = informers.Get(r);
    const bool shows = Eventually([&] {
      const kube::ObjectPtr held = informer->store().Find(stored.key());
      return held != nullptr && held->resource_version() == stored.resource_version();
    });
    // A new handler gets its turn behind the changes that others have not been told of yet.
    informer->RemoveHandler(informer->AddHandler({}));
    return shows;
  }
  // Stores an object in the control plane and waits until the cache has it, as Shows does.
  kube::Object PutCached(const kube::Resource& r, kube::Object object) {
    kube::Object stored = server->Put(r, std::move(object));
    REQUIRE(Shows(r, stored));
    return stored;
  }

 private:
  const works::Repairs repairs_;
  std::map<std::string, std::shared_ptr<FakeApiServer>> servers_;

 public:
  kube::ClusterSet::Options MemberOptions() {
    kube::ClusterSet::Options options;
    options.on_new = [](kube::MemberCluster& m) {
      kube::InformerOptions managed;
      managed.label_selector = absl::StrCat(api::kManagedLabel, "=", api::kManagedValue);
      m.client().informers().SetDefaultOptions(managed);
    };
    options.new_transport = [this](const kube::ConnectionConfig& config)
        -> absl::StatusOr<std::shared_ptr<kube::Transport>> { return servers_.at(config.server); };
    return options;
  }
  kube::ClusterSet members{MemberOptions(), *this, clock, nullptr};
  std::unique_ptr<interpreter::Interpreter> chain = [this] {
    std::vector<std::unique_ptr<interpreter::Backend>> backends;
    backends.push_back(interpreter::NewNativeBackend(clock));
    return interpreter::NewChain(std::move(backends));
  }();
  works::MemberObjects objects{{mapper, members, *chain, clock, registry, false, repairs_}};
};

}  // namespace tests

#endif  // TESTS_SUPPORT_MEMBERS_FIXTURE_H_
