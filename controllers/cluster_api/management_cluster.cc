// WatchedKinds runs discovery on the management cluster, on a thread of its own, and starts the
// informer of Clusters in the version that the server prefers among those that are needed; when
// another version becomes the preferred one, it changes over, and all Clusters are delivered as
// additions again. watched_ names the version whose informer answers Find and Named. A kind that is
// not served any more reports no deletions, so that no cluster is un-joined because Cluster API was
// removed or its API is broken for a while.

#include "controllers/cluster_api/management_cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_api.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/status.h"
#include "config/version.h"
#include "kube/client/errors.h"
#include "kube/kubeconfig/self_contained_kubeconfig.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr char kByName[] = "name";
constexpr char kName[] = "Cluster API management cluster";
const kube::ObjectKey& SystemNamespace() {
  static const auto& key = *new kube::ObjectKey{"", "kube-system"};
  return key;
}

kube::ClientOptions ClientFor(const std::string& host) {
  kube::ClientOptions options;
  options.name = kName;
  options.host = host;
  options.user_agent = config::UserAgent(api::kControllerManager);
  return options;
}

std::vector<std::string> NameOf(const kube::Object& object) { return {std::string(object.name())}; }

// Conditions and other parts of the status change often while machines are added and removed.
bool Matters(const kube::Object& before, const kube::Object& after) {
  return before.uid() != after.uid() || before.spec() != after.spec() ||
         api::IsProvisioned(before) != api::IsProvisioned(after);
}

}  // namespace

ManagementCluster::ManagementCluster(std::shared_ptr<kube::Transport> transport,
                                     const std::string& host, const base::Clock& clock)
    : client_(std::move(transport), ClientFor(host), clock, nullptr),
      mapper_(client_, clock),
      informers_(client_, clock),
      cluster_(client_, mapper_, informers_),
      kinds_(cluster_, clock) {
  informers_.SetDefaultOptions({.fields = api::ClusterApiFields()});
}

ManagementCluster::~ManagementCluster() {
  informers_.Stop();  // Its handlers refer to the queue.
}

void ManagementCluster::Feed(kube::WorkQueue& queue) {
  queue_ = &queue;
  subscription_.emplace(kinds_.Subscribe(*this));
  for (const kube::Gvk& gvk : api::ClusterApiVersions()) subscription_->Need(gvk, kName);
}

kube::EventHandler ManagementCluster::HandlerFor(const kube::Resource& resource) {
  informers_.Get(resource)->AddIndex(kByName, NameOf);
  {
    absl::MutexLock lock(&mu_);
    watched_ = resource;  // From now on others use the index.
  }
  return kube::EnqueueHandler(
      *queue_, {.when = {.update = Matters}, .map = [](const auto& cluster) {
                  return std::vector<kube::Request>{{.key = {"", std::string(cluster.name())}}};
                }});
}

void ManagementCluster::OnUnwatched(const kube::Gvk& gvk) {
  absl::MutexLock lock(&mu_);
  if (watched_.has_value() && watched_->gvk == gvk) watched_.reset();
}

std::shared_ptr<kube::Informer> ManagementCluster::Watched() const {
  std::optional<kube::Resource> resource;
  {
    absl::MutexLock lock(&mu_);
    resource = watched_;
  }
  return resource.has_value() ? informers_.Find(*resource) : nullptr;
}

bool ManagementCluster::HasSynced() const {
  const std::shared_ptr<kube::Informer> informer = Watched();
  return informer != nullptr && informer->HasSynced();
}

kube::ObjectPtr ManagementCluster::Find(const kube::ObjectKey& cluster) const {
  const std::shared_ptr<kube::Informer> informer = Watched();
  return informer == nullptr ? nullptr : informer->store().Find(cluster);
}

std::vector<kube::ObjectPtr> ManagementCluster::Named(const std::string& name) const {
  const std::shared_ptr<kube::Informer> informer = Watched();
  if (informer == nullptr) return {};
  std::vector<kube::ObjectPtr> clusters = informer->store().ByIndex(kByName, name);
  // The oldest first, so that every pass joins the same one of several of a name.
  std::sort(clusters.begin(), clusters.end(), [](const auto& a, const auto& b) {
    const auto age = [](const kube::Object& o) {
      return std::pair(o.metadata()["creationTimestamp"].AsString(), o.ns());
    };
    return age(*a) < age(*b);
  });
  return clusters;
}

absl::StatusOr<bool> ManagementCluster::Exists(const kube::ObjectKey& cluster,
                                               const base::StopToken& stop) {
  const std::shared_ptr<kube::Informer> informer = Watched();
  if (informer == nullptr) {
    return absl::UnavailableError(absl::StrCat("the ", kName, " does not serve its clusters"));
  }
  const absl::Status found = client_.Get(informer->resource(), cluster, stop).status();
  if (kube::IsGone(found)) return false;
  RETURN_IF_ERROR(found);
  return true;
}

absl::StatusOr<std::string> ManagementCluster::Id(const base::StopToken& stop) {
  {
    absl::MutexLock lock(&mu_);
    if (!id_.empty()) return id_;
  }
  return AskId(stop);
}

absl::StatusOr<std::string> ManagementCluster::AskId(const base::StopToken& stop) {
  const absl::StatusOr<kube::Object> system =
      client_.Get(api::Namespaces(), SystemNamespace(), stop);
  RETURN_IF_ERROR(base::Annotate(system.status(), "identifying the ", kName));
  absl::MutexLock lock(&mu_);
  return id_ = std::string(system->uid());
}

absl::StatusOr<kube::ConnectionConfig> ManagementCluster::KubeconfigOf(
    const kube::ObjectKey& cluster, const base::StopToken& stop) {
  const kube::ObjectKey key = api::KubeconfigSecretOf(cluster);
  const std::string where = absl::StrCat("Secret ", key.ToString(), " of the ", kName);
  const absl::StatusOr<kube::Object> secret = client_.Get(api::Secrets(), key, stop);
  RETURN_IF_ERROR(base::Annotate(secret.status(), "reading the ", where));
  const absl::string_view data = secret->Get({"data", api::kKubeconfigKey}).AsString();
  std::string text;
  if (data.empty() || !absl::Base64Unescape(data, &text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", where, " has no kubeconfig in data.", api::kKubeconfigKey));
  }
  // Self-contained: a kubeconfig of somebody else must not name files or programs of this machine.
  absl::StatusOr<kube::ConnectionConfig> config = kube::ParseSelfContainedKubeconfig(text);
  RETURN_IF_ERROR(base::Annotate(config.status(), "the kubeconfig in the ", where));
  if (!config->tls_server_name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the kubeconfig in the ", where,
        " has a tls-server-name: a Cluster has no field for that, so it could never be reached"));
  }
  return config;
}

}  // namespace controllers
