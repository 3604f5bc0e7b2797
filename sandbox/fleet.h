// A Karmada control plane and N member clusters in one process.
#ifndef SANDBOX_FLEET_H_
#define SANDBOX_FLEET_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/feature_gates.h"
#include "config/release.h"
#include "sandbox/api_server.h"
#include "sandbox/karmada_definitions.h"

namespace sandbox {

struct FleetOptions {
  int members = 3;
  // Further members, after those, which are in pull mode: nothing is done to join them, since an
  // agent registers its cluster itself.
  int pull_members = 0;
  int first_port = 0;  // The control plane's; those of members follow. 0 picks free ones.
  int nodes_per_member = 3;
  absl::Duration ready_delay = absl::Milliseconds(300);   // From a pod's creation to Ready.
  absl::Duration job_duration = absl::Milliseconds(500);  // From a job pod's start to its success.
  bool with_scheduler = true;
  bool with_crds = true;      // True: Karmada's CRDs are loaded from crd_directory.
  std::string crd_directory;  // Empty stands for the definitions that came with the program.
  // The release of Karmada whose definitions are served and as which admission and scheduler
  // behave; nullopt for that of the definitions as they lie in the directory, which is v1.18 for
  // those that came with the program.
  std::optional<config::Release> release;
  // The definitions, for a process with many fleets; nullptr: they are read from crd_directory.
  // They must outlive Start(), and `release` does not matter then.
  const KarmadaDefinitions* definitions = nullptr;
  // False: plain HTTP, which costs less; then there are no agents.
  bool with_tls = true;
  // True: members are joined at the start (Cluster objects and secrets).
  bool join_members = true;
  // True: FederatedResourceQuotas limit bindings, as with karmada-webhook's feature gate
  // FederatedQuotaEnforcement.
  bool enforce_quotas = false;
  // Those of karmada-scheduler; what is not set has the default that it has in the release.
  config::FeatureGates scheduler_gates;
};

class Fleet {
 public:
  // kNotFound when there are no definitions, kInvalidArgument when they are not those of
  // `options.release`.
  static absl::StatusOr<std::unique_ptr<Fleet>> Start(const FleetOptions& options);
  virtual ~Fleet() = default;

  virtual ApiServer& control_plane() = 0;
  // The release of Karmada of which the control plane is.
  virtual config::Release release() const = 0;
  virtual std::vector<std::string> member_names() const = 0;  // "member1" and so on.
  virtual ApiServer* member(absl::string_view name) = 0;      // nullptr when unknown.
  // Returns whether the member is one of FleetOptions::pull_members.
  virtual bool IsPull(absl::string_view name) const = 0;

  // Returns the text of a kubeconfig for the administrator of "karmada" or a member (with a client
  // certificate).
  virtual absl::StatusOr<std::string> Kubeconfig(absl::string_view name) = 0;
  // Returns the text of a kubeconfig for the control plane, for the agent of a member.
  virtual absl::StatusOr<std::string> AgentKubeconfig(absl::string_view member) = 0;
  // Writes <directory>/karmada.kubeconfig and <member>.kubeconfig; only their owner can read them.
  virtual absl::Status WriteKubeconfigs(const std::string& directory) = 0;

  // Calls the function while nothing simulated does anything: controllers and the scheduler see all
  // that it writes at the same time. REQUIRES: not called by what is simulated.
  virtual void WhileHeld(const std::function<void()>& write) = 0;

  // Adds another member in push mode and joins it; returns its name. An empty `name` lets the fleet
  // choose one.
  virtual absl::StatusOr<std::string> AddMember(absl::string_view name) = 0;
  // Joins a member again whose Cluster was deleted, with new credentials. kNotFound when there is
  // no such member, kFailedPrecondition when it has not left, or is still leaving. Of a member in
  // pull mode only what it has left behind is removed: its agent registers it at its next start.
  virtual absl::Status JoinAgain(absl::string_view name) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_FLEET_H_
