// Open starts the control plane in this order: the definitions are read, since they tell the
// release; then the server, admission, the definitions, Karmada's namespaces, the controllers and
// the scheduler. Each member follows: its server, its nodes, its
// controllers, and at last the Cluster and the Secrets by which it joins, unless it is in pull
// mode. A failure ends the start, or, in AddMember, leaves the fleet as it was, except for what
// joining has already written.
//
// add_mu_ lets one member be added at a time; mu_ guards the tables and is held for moments only.
// Everything simulated runs on loop_, which the destructor stops before any cluster is taken apart.

#include "sandbox/fleet.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/keys.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/cluster_identity.h"
#include "sandbox/manifests.h"
#include "sandbox/member_joining.h"
#include "sandbox/sim/certificate_signer.h"
#include "sandbox/sim/cluster_controllers.h"
#include "sandbox/sim/event_loop.h"
#include "sandbox/sim/karmada_admission.h"
#include "sandbox/sim/quota_admission.h"

namespace sandbox {
namespace {

constexpr char kControlPlane[] = "karmada-apiserver";
constexpr char kControlPlaneFile[] = "karmada";  // The name of its kubeconfig file.

// A server and its identity.
struct Cluster {
  ClusterIdentity identity;
  std::unique_ptr<ApiServer> server;
};

absl::StatusOr<Cluster> StartCluster(const std::string& name, int port, bool with_tls) {
  Cluster cluster;
  ASSIGN_OR_RETURN(cluster.identity, MakeIdentity(name));
  ApiServerOptions options;
  options.name = name;
  options.port = port;
  options.with_tls = with_tls;
  if (!with_tls) {
    cluster.identity.admin_token = base::NewUuid();
    options.tokens[cluster.identity.admin_token] = kAdministrator;
  }
  options.tls.server = cluster.identity.server;
  options.tls.client_ca_pem = cluster.identity.ca_pem;
  ASSIGN_OR_RETURN(cluster.server, ApiServer::Start(std::move(options)));
  return cluster;
}

class FleetImpl : public Fleet {
 public:
  explicit FleetImpl(const FleetOptions& options) : options_(options) {}
  ~FleetImpl() override { loop_.Stop(); }

  void WhileHeld(const std::function<void()>& write) override { loop_.RunAlone(write); }

  absl::Status Open() {
    RETURN_IF_ERROR(OpenControlPlane());
    for (int i = 0; i < options_.members; ++i) {
      RETURN_IF_ERROR(AddMember("").status());
    }
    for (int i = 0; i < options_.pull_members; ++i) {
      RETURN_IF_ERROR(Add("", /*is_pull=*/true).status());
    }
    return absl::OkStatus();
  }

  ApiServer& control_plane() override { return *control_plane_.server; }
  config::Release release() const override { return release_; }

  std::vector<std::string> member_names() const override {
    absl::MutexLock lock(&mu_);
    return names_;
  }

  ApiServer* member(absl::string_view name) override {
    const Member* found = FindMember(name);
    return found == nullptr ? nullptr : found->cluster.server.get();
  }

  bool IsPull(absl::string_view name) const override {
    const Member* found = FindMember(name);
    return found != nullptr && found->is_pull;
  }

  absl::StatusOr<std::string> AgentKubeconfig(absl::string_view member) override {
    return sandbox::AgentKubeconfig(kControlPlane, control_plane_.server->url(),
                                    control_plane_.identity, std::string(member));
  }

  absl::StatusOr<std::string> Kubeconfig(absl::string_view name) override {
    if (name == kControlPlaneFile || name == kControlPlane) {
      return AdminKubeconfig(kControlPlane, control_plane_.server->url(), control_plane_.identity);
    }
    const Member* found = FindMember(name);
    if (found == nullptr) return absl::NotFoundError(absl::StrCat("no cluster \"", name, "\""));
    const Cluster& cluster = found->cluster;
    return AdminKubeconfig(std::string(name), cluster.server->url(), cluster.identity);
  }

  absl::Status WriteKubeconfigs(const std::string& directory) override {
    std::vector<std::string> names = member_names();
    names.push_back(kControlPlaneFile);
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(const std::string text, Kubeconfig(name));
      RETURN_IF_ERROR(WritePrivateFile(absl::StrCat(directory, "/", name, ".kubeconfig"), text));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> AddMember(absl::string_view wanted) override {
    return Add(wanted, /*is_pull=*/false);
  }

  absl::Status JoinAgain(absl::string_view name) override {
    absl::MutexLock adding(&add_mu_);
    const Member* found = FindMember(name);
    if (found == nullptr) return absl::NotFoundError(absl::StrCat("no cluster \"", name, "\""));
    RETURN_IF_ERROR(PrepareToJoinAgain(control_plane_.server->backend(), std::string(name)));
    return found->is_pull ? absl::OkStatus() : Join(std::string(name), found->cluster);
  }

 private:
  struct Member {
    Cluster cluster;
    bool is_pull = false;                          // Never changes once the member is listed.
    std::optional<MemberControllers> controllers;  // Destroyed before the server.
  };

  absl::StatusOr<std::string> Add(absl::string_view wanted, bool is_pull) {
    absl::MutexLock adding(&add_mu_);  // Members are added one at a time; readers do not wait.
    ASSIGN_OR_RETURN(const std::string name, NewName(wanted));
    ASSIGN_OR_RETURN(std::unique_ptr<Member> member, StartMember(name));
    member->is_pull = is_pull;
    // It is joined before it is listed, so that whoever finds a name finds a joined cluster.
    if (!is_pull && options_.join_members && options_.with_crds) {
      RETURN_IF_ERROR(Join(name, member->cluster));
    }
    absl::MutexLock lock(&mu_);
    names_.push_back(name);
    members_[name] = std::move(member);
    return name;
  }

  absl::Status OpenControlPlane() {
    std::string directory;
    KarmadaDefinitions definitions{.release = options_.release.value_or(release_)};
    if (options_.with_crds && options_.definitions != nullptr) {
      definitions = *options_.definitions;
    } else if (options_.with_crds) {
      ASSIGN_OR_RETURN(directory, FindManifests({options_.crd_directory, "crds", "--crds"}));
      ASSIGN_OR_RETURN(definitions, ReadKarmadaDefinitions(directory, options_.release));
    }
    release_ = definitions.release;
    ASSIGN_OR_RETURN(control_plane_,
                     StartCluster(kControlPlane, options_.first_port, options_.with_tls));
    Backend& backend = control_plane_.server->backend();
    // Before anything is written, because what is stored first is admitted, too.
    backend.AddAdmission(KarmadaAdmission(base::RealClock(), release_));
    if (options_.enforce_quotas) backend.AddAdmission(QuotaAdmission(backend));
    RETURN_IF_ERROR(LoadDefinitions(directory, std::move(definitions.objects), backend));
    for (const char* ns : {api::kSystemNamespace, api::kClusterNamespace}) {
      RETURN_IF_ERROR(EnsureNamespace(backend, ns));
    }
    controllers_.emplace(backend, loop_);
    signer_.emplace(backend, loop_, control_plane_.identity.authority);
    if (options_.with_scheduler && options_.with_crds) {
      scheduler_.emplace(backend, loop_, Rules());
    }
    return absl::OkStatus();
  }

  SchedulingRules Rules() const {
    config::FeatureGates gates = options_.scheduler_gates;
    gates.Emulate(release_);
    return {.release = release_,
            .components = gates.Enabled(config::Gate::kMultiplePodTemplatesScheduling),
            .by_priority = gates.Enabled(config::Gate::kPriorityBasedScheduling),
            .models = gates.Enabled(config::Gate::kCustomizedClusterResourceModeling),
            .workload_affinity = gates.Enabled(config::Gate::kWorkloadAffinity)};
  }

  absl::StatusOr<std::unique_ptr<Member>> StartMember(const std::string& name) {
    int port = 0;
    if (options_.first_port != 0) {
      port = options_.first_port + 1 + static_cast<int>(member_names().size());
    }
    auto member = std::make_unique<Member>();
    ASSIGN_OR_RETURN(member->cluster, StartCluster(name, port, options_.with_tls));
    Backend& backend = member->cluster.server->backend();
    RETURN_IF_ERROR(CreateNodes(backend, name, options_.nodes_per_member, loop_.clock().Now()));
    member->controllers.emplace(backend, loop_,
                                PodTimes{options_.ready_delay, options_.job_duration});
    return member;
  }

  absl::Status Join(const std::string& name, const Cluster& cluster) {
    return base::Annotate(JoinMember(control_plane_.server->backend(),
                                     {name, *cluster.server, cluster.identity.ca_pem}),
                          "joining ", name);
  }

  // Returns `wanted`, or the next free "memberN".
  absl::StatusOr<std::string> NewName(absl::string_view wanted) {
    absl::MutexLock lock(&mu_);
    std::string name(wanted);
    for (int i = 1; name.empty(); ++i) {
      const std::string candidate = absl::StrCat("member", i);
      if (members_.count(candidate) == 0) name = candidate;
    }
    RETURN_IF_ERROR(base::Annotate(kube::ValidateDns1123Label(name), "member name \"", name, "\""));
    if (members_.count(name) > 0 || name == kControlPlaneFile || name == kControlPlane) {
      return absl::AlreadyExistsError(absl::StrCat("there is a cluster \"", name, "\" already"));
    }
    return name;
  }

  const Member* FindMember(absl::string_view name) const {
    absl::MutexLock lock(&mu_);
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : found->second.get();
  }

  const FleetOptions options_;
  config::Release release_ = config::Release::kV1_18;  // Never changes after OpenControlPlane.
  EventLoop loop_;
  Cluster control_plane_;
  std::optional<ControlPlaneControllers> controllers_;
  std::optional<CertificateSigner> signer_;  // Of the control plane.
  std::optional<KarmadaScheduler> scheduler_;
  absl::Mutex add_mu_;
  mutable absl::Mutex mu_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mu_);  // In the order of adding.
  std::map<std::string, std::unique_ptr<Member>, std::less<>> members_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Fleet>> Fleet::Start(const FleetOptions& options) {
  auto fleet = std::make_unique<FleetImpl>(options);
  RETURN_IF_ERROR(fleet->Open());
  return fleet;
}

}  // namespace sandbox
