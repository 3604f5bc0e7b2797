// The part of the controller manager that runs with --shadow alone: what fails, what the leader
// shows of it, the page and the report.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_SIDE_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_SIDE_H_

#include <memory>
#include <string>
#include <utility>

#include "base/snapshot.h"
#include "base/stop_token.h"
#include "cmd/controller-manager/daemon.h"
#include "cmd/controller-manager/shadow_report.h"
#include "cmd/controller-manager/shown_failures.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/shadow/shadow.h"

namespace cmd {

// Thread-safe. REQUIRES: what it refers to outlives the run of the manager.
class ShadowSide {
 public:
  struct Deps {
    std::shared_ptr<kube::Shadow> shadow;
    kube::Client& client;  // Of the control plane.
    kube::Manager& manager;
    kube::InformerSet& informers;
    kube::ClusterSet& members;
    kube::WatchedKinds& kinds;
    const ShadowEnd& end;
    std::string lease_namespace;  // Where the leader's Lease is.
  };
  explicit ShadowSide(Deps deps) : deps_(std::move(deps)) {}

  // Adds the page and the ShadowWatch to the manager. REQUIRES: called once, before its Run.
  void AddTo(kube::Manager& manager);

 private:
  // What loops could not look at the last time, of the control plane and of all members: first
  // the caches, which other failures may be due to.
  kube::Shadow::Failing Failing() const;
  bool HaveRead() const;  // No informer is still reading its objects for the first time.
  // Reads what the control plane shows of the leader and its failures.
  void ReadShown(const base::StopToken& stop);
  void ReadFailures(const base::StopToken& stop);
  void End(ShadowResult result, kube::Shadow::Failing failing);
  // The page with the first of these failures, those before others that the leader does not show.
  json::Value Page(kube::Shadow::Failing failing) const;

  const Deps deps_;
  base::Snapshot<ShownFailures> shown_{std::make_shared<const ShownFailures>()};
  base::Snapshot<Uncompared> uncompared_{std::make_shared<const Uncompared>()};
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_SIDE_H_
