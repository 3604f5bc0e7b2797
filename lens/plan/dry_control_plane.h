// A simulated control plane for a plan: it takes manifests and Clusters, and the daemon's loops and
// the sandbox's scheduler turn them into bindings and Works. No member is needed or connected to.
//
//   ASSIGN_OR_RETURN(auto plane, DryControlPlane::Start({}));
//   RETURN_IF_ERROR(plane->Apply(object));
//   RETURN_IF_ERROR(plane->Settle(stop));
//   ... plane->backend() ...
#ifndef LENS_PLAN_DRY_CONTROL_PLANE_H_
#define LENS_PLAN_DRY_CONTROL_PLANE_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_loops.h"
#include "sandbox/fleet.h"

namespace lens::plan {

class DryControlPlane {
 public:
  // Starts the server and the scheduler; the loops start with the first Settle. Karmada's
  // definitions are those in `crds`, or the ones that came with the program when it is empty; of
  // the release that `options` want, if they want one. Everything behaves as the release of the
  // definitions.
  static absl::StatusOr<std::unique_ptr<DryControlPlane>> Start(config::Options options,
                                                                const std::string& crds = "");

  sandbox::Backend& backend() { return fleet_->control_plane().backend(); }
  // The daemon's flags, as the release that is emulated has them.
  const config::Options& options() const { return options_; }

  // Returns how to reach the server over its API.
  absl::StatusOr<kube::ConnectionConfig> Connection();

  // Returns how the object's kind is served. A kind of an unknown group is assumed to be a custom
  // resource, and is served from then on: namespaced if the object has a namespace. kNotFound for
  // unknown kinds of Kubernetes' and Karmada's own groups.
  absl::StatusOr<kube::Resource> ResourceFor(const kube::Object& object);
  // The kinds that ResourceFor has assumed.
  const std::set<kube::Gvk>& assumed_kinds() const { return assumed_; }

  // Creates the object or makes it what is given, as `kubectl apply --server-side` does. It gets
  // its uid, or one that follows from its name: the scheduler breaks ties by it, so that equal
  // inputs have equal results. A missing namespace is created. Clusters get an execution namespace
  // and, unless given, a status: ready, with every API that this server has and with room for
  // everything.
  absl::Status Apply(kube::Object object);
  // Takes over an object of a live control plane with its identity and its claims. What owns it,
  // and finalizers, are left out.
  absl::Status Restore(const kube::Object& live);
  // Takes over a binding with its placement, whose generation counts as observed if the live one's
  // does. `has_passed`: whether its template's present state has (passages.h). Its template has to
  // be restored first, and its Works, lest they are made again.
  absl::Status RestoreBinding(const kube::Object& live, bool has_passed);
  // Takes over a Work that is not being deleted, without what keeps it from being deleted.
  absl::Status RestoreWork(const kube::Object& live);
  // Takes over a FederatedResourceQuota with what is booked on it. Call it after all bindings were
  // restored, lest they are booked twice.
  absl::Status RestoreQuota(const kube::Object& live);
  // Calls the function while the scheduler and the other simulated controllers do nothing: they see
  // all that it writes at the same time.
  void WhileHeld(const std::function<void()>& write) { fleet_->WhileHeld(write); }
  // Deletes the object if it exists.
  absl::Status Delete(const kube::Object& object);

  // Blocks until nothing changes any more: no loop has anything to do, and everything that policies
  // select is placed and rendered, or cannot be. kDeadlineExceeded after two minutes.
  absl::Status Settle(const base::StopToken& stop);
  // Settles after a change of Clusters or an eviction, which need not cause anything: it waits for
  // a short silence, and for a longer one while the scheduler tries something again.
  absl::Status SettleAfterChange(const base::StopToken& stop);

  // Answers by the customizations that were applied, the shipped ones and the built-in rules.
  // REQUIRES: Settle was called.
  const interpreter::Interpreter& interpreter() const { return loops_->interpreter(); }

  // Returns the warnings of the loops that hold.
  std::vector<LoopWarning> Warnings() const;

 private:
  DryControlPlane(config::Options options, std::unique_ptr<sandbox::Fleet> fleet);

  absl::Status EnsureNamespace(const std::string& name);
  absl::Status ApplyCluster(const kube::Object& cluster);
  absl::Status StartLoops();
  // Blocks as Settle, until nothing has changed for so long.
  absl::Status SettleFor(absl::Duration (*silence)(sandbox::Backend&), const base::StopToken& stop);
  // Returns a text that changes with every change of an object.
  absl::StatusOr<std::string> Versions();

  class Identities;

  const config::Options options_;
  const std::shared_ptr<Identities> identities_;  // Shared with the server.
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::set<kube::Gvk> assumed_;
  std::unique_ptr<DryLoops> loops_;  // Destroyed before the server.
};

}  // namespace lens::plan

#endif  // LENS_PLAN_DRY_CONTROL_PLANE_H_
