// A pass is about one name. There are two objects of it: the Cluster of the control plane, and the
// Cluster of Cluster API in the management cluster.
//
//   Cluster      of Cluster API   what is done
//   none         provisioned      it is joined
//   unmarked     provisioned      an event: somebody else has joined a cluster of this name
//   marked       provisioned      what is missing, or has changed in the kubeconfig, is written
//   marked       not provisioned  nothing
//   marked       none             it is un-joined, after the management cluster was asked
//   none         none             Secrets that an unfinished join has left are deleted
//
// The mark (api::JoinMark) is written with the Secrets, which come first, and with the Cluster, so
// that whatever a restart interrupts is recognised and completed. It also names the management
// cluster: with a kubeconfig of another one, in which no Cluster is found, nothing is un-joined. A
// Cluster that was moved to another management cluster, or was made again there, is recognised by
// the identity of the member itself, which a join reads from the member.
//
// Members are contacted for a join alone. Once a cluster has joined, a pass reads its kubeconfig
// from the management cluster and compares a digest with the one in the mark; so it finds a renewed
// kubeconfig within kRecheck, without rights to watch all Secrets there. Nothing is remembered but
// the identity of the management cluster, and that is asked for again before anything is deleted.

#include "controllers/cluster_api/cluster_api_reconciler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "config/version.h"
#include "controllers/cluster_api/register.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"
#include "kube/runtime/controller.h"
#include "kube/shadow/shadow.h"

namespace controllers {
namespace {

kube::InvolvedObject About(const std::string& name) {
  return kube::InvolvedObject::Of(kube::Object::Make(api::Clusters().gvk, {"", name}));
}

kube::ClientOptions ClientFor(const std::string& name, const kube::ConnectionConfig& config) {
  kube::ClientOptions options;
  options.name = name;
  options.host = kube::HostOf(config.server);
  options.user_agent = config::UserAgent(api::kControllerManager);
  return options;
}

// Trying again changes nothing before a person has changed something.
bool NeedsPerson(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
}

// A Cluster without a mark matters only when it is removed: its name is free then.
bool IsMarked(const kube::Object& cluster) {
  return api::JoinMark::Of(cluster, cluster.name()).exists();
}

bool MarkedOneChanged(const kube::Object& before, const kube::Object& after) {
  const api::JoinMark mark = api::JoinMark::Of(after, after.name());
  return mark != api::JoinMark::Of(before, before.name()) ||
         (mark.exists() && kube::GenerationChanged(before, after));
}

// Secrets of the management cluster are not watched: one that was repaired is found by the next
// try.
kube::RateLimiterOptions LimiterOf(const Context& context) {
  kube::RateLimiterOptions limiter = context.RateLimiter();
  limiter.max_delay = std::min(limiter.max_delay, ClusterApiReconciler::kRecheck);
  return limiter;
}

// The name of the member is not a field of the Secrets, and one of them has the other's name with
// an ending; the mark has it.
std::vector<kube::Request> MembersOf(const kube::Object& secret) {
  if (secret.ns() != api::kClusterNamespace) return {};
  const std::string name(secret.name());
  std::vector<kube::Request> requests;
  for (const std::string& member : {name, name.substr(0, name.rfind("-impersonator"))}) {
    if (!api::JoinMark::Of(secret, member).exists()) continue;
    requests.push_back({.key = {"", member}});
    break;
  }
  return requests;
}

// The parts of a cluster's outcomes.
constexpr char kJoining[] = "join", kUnjoining[] = "unjoin";

}  // namespace

ClusterApiReconciler::ClusterApiReconciler(kube::Manager& manager, ManagementCluster& management,
                                           NewTransport new_transport)
    : manager_(manager),
      management_(management),
      new_transport_(std::move(new_transport)),
      registrations_(manager.cluster()),
      recorder_(manager.events(), api::kClusterApiDetector, outcomes()) {}

absl::StatusOr<kube::Action> ClusterApiReconciler::Reconcile(const kube::Request& request,
                                                             const base::StopToken& stop) {
  const std::string& name = request.key.name;
  if (!management_.HasSynced()) return kube::Action::After(kWait);
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster != nullptr && cluster->IsDeleting()) return kube::Action::Done();
  if (cluster != nullptr && IsMarked(*cluster)) {
    return Follow(cluster, api::JoinMark::Of(*cluster, name), stop);
  }
  const std::vector<kube::ObjectPtr> sources = Provisioned(name);
  if (sources.empty()) {
    recorder_.Forget(request, kJoining);
    if (cluster != nullptr) return kube::Action::Done();
    return CleanUp(name, registrations_.LeftoversOf(name), stop);
  }
  if (cluster != nullptr) {
    return Refuse(name, absl::FailedPreconditionError(absl::StrCat(
                            "Cluster ", sources.front()->key().ToString(),
                            " of Cluster API cannot be joined: there is a cluster of this name "
                            "that was joined in another way, and is left as it is")));
  }
  return Join({*sources.front(), nullptr, {}}, stop);
}

absl::StatusOr<kube::Action> ClusterApiReconciler::Follow(const kube::ObjectPtr& cluster,
                                                          const api::JoinMark& mark,
                                                          const base::StopToken& stop) {
  const std::string name(cluster->name());
  if (api::ClusterView(*cluster).IsPull()) {
    return Refuse(name, absl::FailedPreconditionError(
                            "the cluster is marked as one of Cluster API, and is in Pull mode: "
                            "what its agent does is left to the agent"));
  }
  const kube::ObjectPtr source = management_.Find(mark.cluster);
  if (source != nullptr) {
    if (!api::IsProvisioned(*source)) return kube::Action::Done();
    return Join({*source, cluster, mark}, stop);
  }
  if (!mark.is_complete()) {
    return Refuse(name, absl::FailedPreconditionError(
                            absl::StrCat("the cluster is marked as one of Cluster API, which has "
                                         "no Cluster ",
                                         mark.cluster.ToString())));
  }
  ASSIGN_OR_RETURN(const bool gone, IsGone(mark, stop));
  if (!gone) return kube::Action::After(kRecheck);
  RETURN_IF_ERROR(Unjoin(
      cluster, absl::StrCat("Cluster ", mark.cluster.ToString(), " of Cluster API was deleted"),
      stop));
  return kube::Action::Done();
}

absl::StatusOr<kube::Action> ClusterApiReconciler::Join(const Pair& pair,
                                                        const base::StopToken& stop) {
  const std::string name(pair.source.name());
  ReportNamesakes(name, pair.source.key());
  const absl::Status joined = TryJoin(pair, stop);
  recorder_.Outcome({.of = {{"", name}},
                     .part = kJoining,
                     .about = {About(name)},
                     .success = {api::reason::kJoinClusterSucceed,
                                 absl::StrCat("cluster(", name, ") is joined successfully")},
                     .failure = {api::reason::kJoinClusterFailed, ""},
                     .changed = pair.cluster == nullptr},
                    joined);
  if (!joined.ok() && !NeedsPerson(joined)) return joined;
  return kube::Action::After(kRecheck);
}

absl::Status ClusterApiReconciler::TryJoin(const Pair& pair, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::ConnectionConfig config,
                   management_.KubeconfigOf(pair.source.key(), stop));
  api::JoinMark wanted;
  wanted.cluster = pair.source.key();
  ASSIGN_OR_RETURN(wanted.management, management_.Id(stop));
  wanted.uid = std::string(pair.source.uid());
  wanted.connection = ConnectionDigest(config);
  // The usual end of a pass: nothing has changed since the join, and no member was contacted.
  const bool is_settled =
      pair.cluster != nullptr && pair.mark == wanted && registrations_.IsComplete(*pair.cluster);
  if (is_settled) return absl::OkStatus();
  return JoinMember(pair, config, wanted, stop);
}

absl::Status ClusterApiReconciler::JoinMember(const Pair& pair,
                                              const kube::ConnectionConfig& config,
                                              const api::JoinMark& wanted,
                                              const base::StopToken& stop) {
  const std::string name(pair.source.name());
  RETURN_IF_ERROR(api::CheckClusterName(name));
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, new_transport_(config));
  kube::Client member(std::move(transport), ClientFor(name, config), manager_.clock(), nullptr);
  ASSIGN_OR_RETURN(const std::string id, MemberId(member, stop));
  // Another object of the same name in the same management cluster. If the member behind it is
  // another one as well, the old one has to be un-joined first, or its Works would be taken for
  // those of the new one.
  const bool is_successor = pair.mark.is_complete() && pair.mark.management == wanted.management &&
                            pair.mark.uid != wanted.uid;
  if (pair.cluster != nullptr && is_successor && pair.cluster->spec()["id"].AsString() != id) {
    RETURN_IF_ERROR(Unjoin(pair.cluster,
                           absl::StrCat("Cluster ", wanted.cluster.ToString(),
                                        " of Cluster API was deleted and made again"),
                           stop));
    return absl::AbortedError(
        "the previous cluster of this name has to be removed first");  // No outcome yet.
  }
  RETURN_IF_ERROR(CheckIdentity(pair, name, id));
  ASSIGN_OR_RETURN(MemberCredentials credentials,
                   EnsureMemberAccounts(member, {.cluster = name}, stop));
  RETURN_IF_ERROR(registrations_.Write({.name = name,
                                        .id = id,
                                        .config = config,
                                        .credentials = std::move(credentials),
                                        .mark = wanted},
                                       pair.cluster, stop));
  base::LogInfo(pair.cluster == nullptr ? "a cluster of Cluster API has joined"
                                        : "the join of a cluster of Cluster API was completed",
                {{"cluster", name}, {"from", wanted.cluster.ToString()}});
  return absl::OkStatus();
}

// A kubeconfig that leads to a wrong cluster must not redirect what is propagated.
absl::Status ClusterApiReconciler::CheckIdentity(const Pair& pair, const std::string& name,
                                                 const std::string& id) const {
  if (pair.cluster != nullptr) {
    const absl::string_view held = pair.cluster->spec()["id"].AsString();
    if (held == id) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the kubeconfig of Cluster ", pair.source.key().ToString(),
                     " of Cluster API leads to the cluster with the id ", id, ", but spec.id is \"",
                     held, "\": nothing is changed"));
  }
  const std::string other = registrations_.OtherWithId(id, name);
  if (other.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the cluster with the id ", id, ", to which the kubeconfig of Cluster ",
                   pair.source.key().ToString(), " of Cluster API leads, has joined as ", other));
}

absl::StatusOr<bool> ClusterApiReconciler::IsGone(const api::JoinMark& mark,
                                                  const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const bool exists, management_.Exists(mark.cluster, stop));
  // The cache may be behind, and the kubeconfig may lead to another management cluster by now: a
  // Cluster is un-joined only if the very one that is in the mark says that it is gone.
  if (exists) return false;
  ASSIGN_OR_RETURN(const std::string id, management_.AskId(stop));
  return id == mark.management;
}

absl::Status ClusterApiReconciler::Unjoin(const kube::ObjectPtr& cluster, const std::string& why,
                                          const base::StopToken& stop) {
  kube::DeleteOptions options;
  options.uid = std::string(cluster->uid());
  const absl::Status deleted =
      manager_.cluster().Delete(api::Clusters(), cluster->key(), options, stop);
  recorder_.Outcome({.of = {cluster->key()},
                     .part = kUnjoining,
                     .about = {kube::InvolvedObject::Of(*cluster)},
                     .success = {api::reason::kUnjoinClusterSucceed, why},
                     .failure = {api::reason::kUnjoinClusterFailed, ""},
                     .changed = true},
                    deleted);
  if (deleted.ok()) {
    base::LogInfo("a cluster of Cluster API is un-joined",
                  {{"cluster", cluster->name()}, {"why", why}});
  }
  return deleted;
}

absl::StatusOr<kube::Action> ClusterApiReconciler::CleanUp(const std::string& name,
                                                           const api::JoinMark& mark,
                                                           const base::StopToken& stop) {
  if (!mark.exists() || management_.Find(mark.cluster) != nullptr) return kube::Action::Done();
  ASSIGN_OR_RETURN(const bool gone, IsGone(mark, stop));
  if (gone) RETURN_IF_ERROR(registrations_.RemoveLeftovers(name, mark, stop));
  return kube::Action::Done();
}

kube::Action ClusterApiReconciler::Refuse(const std::string& name, const absl::Status& why) {
  recorder_.Outcome({.of = {{"", name}},
                     .part = kJoining,
                     .about = {About(name)},
                     .success = {api::reason::kJoinClusterSucceed, ""},
                     .failure = {api::reason::kJoinClusterFailed, ""}},
                    why);
  return kube::Action::Done();  // A change of either object brings the name back.
}

void ClusterApiReconciler::ReportNamesakes(const std::string& name, const kube::ObjectKey& joined) {
  for (const kube::ObjectPtr& source : Provisioned(name)) {
    if (source->key() == joined) continue;
    recorder_.Warning(About(name), api::reason::kJoinClusterFailed,
                      absl::StrCat("Cluster ", source->key().ToString(),
                                   " of Cluster API cannot be joined: Cluster ", joined.ToString(),
                                   " has its name"));
  }
}

std::vector<kube::ObjectPtr> ClusterApiReconciler::Provisioned(const std::string& name) const {
  std::vector<kube::ObjectPtr> sources = management_.Named(name);
  std::erase_if(sources, [](const auto& source) { return !api::IsProvisioned(*source); });
  return sources;
}

absl::Status BuildClusterApi(const Context& context, ClusterApiConnections connections,
                             int workers) {
  auto management = std::make_shared<ManagementCluster>(std::move(connections.management),
                                                        connections.host, context.clock());
  // Added first, because it is destroyed first then; it refers to `management`.
  context.manager.Add(management->NewRunnable());
  kube::Controller& controller =
      context.NewController(api::kClusterApiQueue, workers)
          .WithLimiter(LimiterOf(context))
          .WithLanes([](const kube::Request& request) { return request.key.name; })
          .Watches(api::Clusters(), {.when = {.add = IsMarked, .update = MarkedOneChanged}})
          .Watches(api::Secrets(), {.map = MembersOf})
          .Build(std::make_unique<ClusterApiReconciler>(context.manager, *management,
                                                        std::move(connections.new_transport)));
  management->Feed(controller.queue());
  controller.Keep(std::move(management));
  return absl::OkStatus();
}

absl::Status RegisterClusterApi(const Context& context, int workers) {
  const config::Options& options = context.options;
  if (options.cluster_api_kubeconfig.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::ConnectionConfig config,
                   kube::LoadConnectionConfig({.path = options.cluster_api_kubeconfig,
                                               .context = options.cluster_api_context}));
  const NewTransport connect = [shadow = context.shadow](const kube::ConnectionConfig& server)
      -> absl::StatusOr<std::shared_ptr<kube::Transport>> {
    ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(server));
    if (shadow == nullptr) return transport;
    return shadow->Over(kube::HostOf(server.server), std::move(transport));
  };
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, connect(config));
  return BuildClusterApi(context, {std::move(transport), kube::HostOf(config.server), connect},
                         workers);
}

}  // namespace controllers
