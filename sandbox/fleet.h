// A Karmada control plane and N member clusters in one process.
#ifndef SANDBOX_FLEET_H_
#define SANDBOX_FLEET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sandbox/api_server.h"

namespace sandbox {

struct FleetOptions {
  int members = 3;
  int first_port = 0;  // Control plane's; members follow. 0 picks free ones.
  int nodes_per_member = 3;
  absl::Duration ready_delay = absl::Milliseconds(300);   // From a pod's creation to Ready.
  absl::Duration job_duration = absl::Milliseconds(500);  // From a job pod's start to its success.
  bool with_scheduler = true;
  bool with_crds = true;      // Karmada's CRDs from crd_directory are loaded.
  std::string crd_directory;  // Empty: the definitions that came with the program.
  bool join_members = true;   // Cluster objects and secrets exist from the start.
};

class Fleet {
 public:
  static absl::StatusOr<std::unique_ptr<Fleet>> Start(const FleetOptions& options);
  virtual ~Fleet() = default;

  virtual ApiServer& control_plane() = 0;
  virtual std::vector<std::string> member_names() const = 0;  // "member1", ...
  virtual ApiServer* member(absl::string_view name) = 0;      // nullptr when unknown.

  // Kubeconfig text (client certificate of an administrator) of "karmada" or a member.
  virtual absl::StatusOr<std::string> Kubeconfig(absl::string_view name) = 0;
  // Writes <directory>/karmada.kubeconfig and <member>.kubeconfig, readable by the owner only.
  virtual absl::Status WriteKubeconfigs(const std::string& directory) = 0;

  // Adds one more member and joins it.
  virtual absl::StatusOr<std::string> AddMember(absl::string_view name) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_FLEET_H_
