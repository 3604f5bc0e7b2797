// The parts are members of one object, in the order in which they need one another. What runs by
// itself (following registries, Clusters, the storage) has a thread each; these begin before the
// server listens and end after the last request, because open watches need them to end properly.

#include "cmd/search/server.h"

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "base/threads.h"
#include "cmd/search/api_router.h"
#include "cmd/search/cache_metrics.h"
#include "cmd/search/cache_scope_view.h"
#include "cmd/search/control_plane_check.h"
#include "cmd/search/http_options.h"
#include "cmd/search/kind_definitions.h"
#include "cmd/search/kubernetes_gates.h"
#include "cmd/search/member_caches.h"
#include "cmd/search/member_routes.h"
#include "cmd/search/opensearch_view.h"
#include "cmd/search/registration.h"
#include "cmd/search/registry_service.h"
#include "cmd/search/request_subject.h"
#include "cmd/search/status_leader.h"
#include "config/release.h"
#include "config/served/release_watch.h"
#include "config/served/served_release.h"
#include "config/version.h"
#include "kube/aggregation/audit_log.h"
#include "kube/aggregation/delegation.h"
#include "kube/aggregation/endpoints.h"
#include "kube/aggregation/handler_chain.h"
#include "kube/aggregation/health.h"
#include "kube/aggregation/service_end.h"
#include "kube/aggregation/statusz.h"
#include "kube/runtime/events.h"
#include "kube/runtime/memory_watch.h"
#include "search/proxy/cache_reads.h"
#include "search/proxy/proxy_handler.h"
#include "search/proxy/view_handler.h"
#include "search/registry/registry_handler.h"
#include "search/registry/scope_inputs.h"

namespace cmd {
namespace {

using kube::aggregation::Delegation;
using kube::aggregation::HandlerChain;
using kube::aggregation::HealthEndpoints;

constexpr int kLate = 1;  // The exit code of a process whose end takes too long.

json::Value VersionDocument(config::Release release) {
  const config::BuildInfo build = config::Build();
  return json::Value::Object({{"major", "1"},
                              {"minor", absl::StrCat(KubernetesMinorOf(release))},
                              {"gitVersion", build.version},
                              {"gitCommit", build.commit},
                              {"compiler", build.compiler},
                              {"platform", build.platform}});
}

void ShowBuild(config::Release release, metrics::Registry& registry) {
  registry.GetGauge("karmada_build_info", "What this build is.", config::BuildLabels()).Set(1);
  config::ShowRelease(release, registry);
}

// Returns the release as which the server behaves until it ends. Little depends on it, so a control
// plane that cannot be asked is taken to be of the oldest one, instead of being waited for; once it
// can be asked, a server of another release begins again.
config::Release ReleaseFor(const SearchOptions& options, kube::Client& control_plane,
                           const base::StopToken& stop) {
  const absl::StatusOr<config::Release> release = config::AwaitRelease(
      options.wanted_release, control_plane,
      {.patience = absl::ZeroDuration(), .until_shown = absl::Seconds(5)}, stop);
  if (!release.ok()) {
    base::LogWarning("release of Karmada",
                     {{"behaves as", config::kReleases.TextOf(config::kOldestRelease)},
                      {"because of", release.status()},
                      {"until", "the control plane shows its definitions"}});
    return config::kOldestRelease;
  }
  config::LogRelease(*release, options.wanted_release.has_value());
  return *release;
}

absl::StatusOr<std::unique_ptr<kube::aggregation::AuditLog>> OpenAudit(
    const AuditOptions& a, metrics::Registry* registry) {
  if (a.level == AuditLevel::kNone || a.path.empty()) return nullptr;
  return kube::aggregation::AuditLog::Open(
      {.path = a.path,
       .max_bytes = int64_t{a.max_megabytes} << 20,
       .max_files = a.max_files.value_or(0),
       .max_age = absl::Hours(24) * a.max_age_days.value_or(0)},
      registry);
}

// What Start has made before the rest can be.
struct Beginning {
  const SearchOptions& options;
  const Connections& connections;
  std::unique_ptr<metrics::Registry> registry = std::make_unique<metrics::Registry>();
  std::unique_ptr<ControlPlane> control_plane;
  std::unique_ptr<kube::aggregation::AuditLog> audit;
  std::unique_ptr<Delegation> delegation;
  std::unique_ptr<RegistryService> registries;
  std::shared_ptr<search::Forwarder> to_control_plane;
};

class Server : public SearchServer {
 public:
  explicit Server(Beginning b);
  ~Server() override { EndThreads(); }

  absl::Status Listen();
  int port() const override { return http_->port(); }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  using Loop = std::function<void(const base::StopToken& stop)>;

  kube::aggregation::Authorizer* ReadAuthorizer();
  HandlerChain::Options ChainOptions();
  search::CacheReads::Options ReadOptions();
  search::ProxyHandler::Parts ProxyParts();
  search::ViewHandler::Parts ViewParts();
  void AddChecks();
  void AddStatusz();
  absl::Status AwaitEnd(const base::StopToken& stop);
  void StartThreads();
  void EndThreads();

  const base::Clock& clock_ = base::RealClock();
  const SearchOptions options_;
  const base::SteadyTime started_ = clock_.SteadyNow();
  const std::unique_ptr<metrics::Registry> registry_;
  const kube::aggregation::Refusals refused_bodies_ = BodyRefusals(*registry_);
  const std::unique_ptr<ControlPlane> control_plane_;
  // Where the parts report to: the API server of the control plane, and the audit log.
  const std::unique_ptr<kube::EventSink> events_;
  const std::unique_ptr<kube::aggregation::AuditLog> audit_;
  const std::unique_ptr<Delegation> delegation_;
  const std::unique_ptr<RegistryService> registries_;
  // What is registered. Each request takes the state of the moment and keeps it to its end.
  search::CacheScope& scope_;
  KindDefinitions definitions_;
  MemberCaches caches_;
  // Asks for the memory in use, and lets the caches act on it before the limit is reached.
  kube::MemoryWatch memory_;
  CacheStatesView states_;
  StatusLeader status_;
  // How requests are answered: by the caches, or forwarded to a member or to the control plane.
  const std::unique_ptr<search::ClusterForwarders> routes_;
  const std::shared_ptr<search::Forwarder> to_control_plane_;
  search::CacheReads reads_;
  search::ProxyHandler proxy_;
  std::unique_ptr<OpenSearchView> open_search_;
  search::ViewHandler view_;
  NothingThere nothing_;
  search::RegistryHandler registry_handler_;
  const search::SearchDocuments documents_;
  ApiRouter router_;
  HealthEndpoints health_;
  CacheMetrics cache_metrics_;
  kube::aggregation::Endpoints endpoints_;
  HandlerChain chain_;
  // Behind everything that its handler uses: it is destroyed first, and then no request runs.
  std::unique_ptr<base::HttpServer> http_;

  base::StopSource end_;
  std::vector<std::thread> threads_;
};

Server::Server(Beginning b)
    : options_(b.options),
      registry_(std::move(b.registry)),
      control_plane_(std::move(b.control_plane)),
      events_(kube::NewEventSink(control_plane_->client, clock_)),
      audit_(std::move(b.audit)),
      delegation_(std::move(b.delegation)),
      registries_(std::move(b.registries)),
      scope_(registries_->scope),
      definitions_(control_plane_->informers),
      caches_({options_, *control_plane_, scope_, clock_, *registry_}),
      memory_(clock_, *registry_,
              {.period = absl::Milliseconds(500),
               .on_use = [this](const base::MemoryUse& use) { caches_.OnMemory(use); }}),
      states_(caches_.cache(),
              caches_.mirrors() == nullptr ? nullptr : &caches_.mirrors()->mirrors(), clock_),
      status_({{*registries_->store, scope_, states_, clock_},
               {.period = options_.status_period},
               control_plane_->cluster,
               *events_,
               *registry_}),
      routes_(MemberRoutes(caches_.access())),
      to_control_plane_(std::move(b.to_control_plane)),
      reads_(ReadOptions()),
      proxy_(ProxyParts()),
      view_(ViewParts()),
      registry_handler_(registries_->api, nothing_, &delegation_->authorizer(), clock_),
      router_({documents_, options_.disable_proxy ? nullptr : &proxy_,
               options_.disable_search ? nullptr : &view_, registry_handler_}),
      cache_metrics_({caches_.cache(), scope_, clock_, *registry_}),
      endpoints_(health_, *registry_, VersionDocument(options_.release), router_),
      chain_(ChainOptions(), {delegation_->authenticator(), delegation_->authorizer(), endpoints_,
                              delegation_->ConfigFn(), audit_.get(), registry_.get(), clock_}) {
  ShowBuild(options_.release, *registry_);
  AddStatusz();
  endpoints_.UpdateMetricsBy([this] { cache_metrics_.Update(); });
  AddChecks();
  // Watches of a resource that has become registered are ended, so that the cache answers the next
  // one.
  scope_.Subscribe([this](const search::ScopePtr&, const search::ScopePtr&) {
    proxy_.OnRegistrationsChanged();
  });
}

HandlerChain::Options Server::ChainOptions() {
  HandlerChain::Options options;
  options.request_timeout = options_.serving.request_timeout;
  options.max_in_flight = options_.serving.max_in_flight;
  options.max_mutating_in_flight = options_.serving.max_mutating_in_flight;
  options.max_long_running = MaxLongRunning(options_.serving);
  options.constrained_impersonation = options_.gates.ConstrainedImpersonation(options_.release);
  const auto is_registered = [this](const kube::Gvr& gvr) {
    return scope_.Current()->registered.contains(gvr);
  };
  options.length = [is_registered](const kube::server::RequestInfo& info,
                                   const base::HttpRequest& request) {
    return LengthOf(info, request, is_registered);
  };
  options.subject = [is_registered](const kube::aggregation::ApiRequest& request) {
    return SubjectOf(request, is_registered);
  };
  return options;
}

kube::aggregation::Authorizer* Server::ReadAuthorizer() {
  return options_.authorize_cached_reads ? &delegation_->authorizer() : nullptr;
}

search::CacheReads::Options Server::ReadOptions() {
  return {.cache = caches_.cache(),
          .clock = clock_,
          .resource =
              [this](const kube::Gvr& gvr) { return RegisteredResource(*scope_.Current(), gvr); },
          .clusters = [this](const kube::Gvr& gvr) { return ClustersOf(*scope_.Current(), gvr); },
          .is_ready =
              [this](const std::string& cluster) { return IsReady(*scope_.Current(), cluster); },
          .authorizer = ReadAuthorizer(),
          .watch_threads = ServerThreads(options_.serving),
          .min_watch_timeout = absl::Seconds(options_.serving.min_request_timeout_seconds),
          .kinds = &definitions_.kinds(),
          .registry = registry_.get()};
}

search::ProxyHandler::Parts Server::ProxyParts() {
  return {.is_registered = RegistrationOf(scope_),
          .cache = reads_,
          .members = *routes_,
          .control_plane = to_control_plane_,
          .decode = VersionDecoder(),
          .clock = clock_,
          .read_authorizer = ReadAuthorizer(),
          .complete = options_.require_complete_answers,
          .head_timeout = options_.serving.request_timeout};
}

search::ViewHandler::Parts Server::ViewParts() {
  search::ViewHandler::Parts parts{.is_registered = RegistrationOf(scope_),
                                   .cache = reads_,
                                   .open_search = nullptr,
                                   .read_authorizer = ReadAuthorizer(),
                                   .complete = options_.require_complete_answers,
                                   .registry = registry_.get()};
  if (caches_.mirrors() == nullptr) return parts;
  open_search_ = std::make_unique<OpenSearchView>(OpenSearchView::Parts{
      [this](const kube::Gvr& gvr) { return RegisteredResource(*scope_.Current(), gvr); },
      caches_.mirrors()->mirrors(), MemberCaches::IndexPrefix(), clock_, &definitions_.kinds(),
      registry_.get()});
  parts.open_search = [view = open_search_.get()](
                          const kube::aggregation::ApiRequest& request,
                          const std::shared_ptr<base::HttpResponder>& responder) {
    view->Handle(request, *responder);
  };
  return parts;
}

// The page that upstream's library has since 1.36. Upstream's karmada-search serves no /flagz.
void Server::AddStatusz() {
  if (!options_.gates.ComponentStatusz(options_.release)) return;
  const kube::aggregation::Statusz about = {
      clock_.Now(),
      absl::StrCat("1.", KubernetesMinorOf(options_.release)),
      {"/healthz", "/livez", "/metrics", "/readyz", "/version"}};
  endpoints_.AddPage("/statusz", [this, about](const base::HttpRequest& request) {
    return kube::aggregation::StatuszAnswer(request, about, clock_.Now());
  });
}

// Without its storage this server still answers from its caches, so that a probe which ends it
// would do harm: liveness does not ask for the storage.
void Server::AddChecks() {
  const auto readiness = HealthEndpoints::Scope::kReadiness;
  health_.Add(registries_->compactor != nullptr ? "etcd-readiness" : "storage-readiness", readiness,
              [this] { return registries_->probe.status(); });
  health_.Add("informer-sync", readiness, [this] {
    return caches_.access().HasSynced()
               ? absl::OkStatus()
               : absl::UnavailableError("Clusters and their Secrets have not been read yet");
  });
  health_.Add("search-storage-cache-readiness", readiness, [this]() -> absl::Status {
    // A member that never answers must not keep this server from being ready for ever.
    if (clock_.SteadyNow() > started_ + options_.storage_initialization_timeout) return {};
    return caches_.AllSynced();
  });
}

// Returns OK after a stop, and the error of config::AwaitOtherRelease.
absl::Status Server::AwaitEnd(const base::StopToken& stop) {
  if (!options_.wanted_release.has_value()) {
    return config::AwaitOtherRelease(options_.release, control_plane_->client, stop);
  }
  while (clock_.SleepFor(absl::Hours(1), stop)) {
  }
  return absl::OkStatus();
}

void Server::StartThreads() {
  const std::vector<Loop> loops = {
      [this](const base::StopToken& stop) { registries_->feed.Run(stop); },
      [this](const base::StopToken& stop) { registries_->api.Run(stop); },
      [this](const base::StopToken& stop) { registries_->probe.Run(stop); },
      [this](const base::StopToken& stop) {
        if (registries_->compactor == nullptr) return;
        registries_->compactor->Run(options_.storage.etcd_compaction_interval, stop);
      },
      [this](const base::StopToken& stop) {
        search::ScopeRunner runner(
            {scope_, registries_->feed, *control_plane_->informers.Get(api::Clusters()), clock_});
        base::IgnoreError(runner.Run(stop), "it ends only when stopped");
      },
      [this](const base::StopToken& stop) {
        caches_.Run([this](const std::string& cluster) { routes_->Forget(cluster); }, stop);
      },
      [this](const base::StopToken& stop) { status_.Run(stop); },
      [this](const base::StopToken& stop) {
        base::IgnoreError(memory_.Run(stop), "it ends only when stopped");
      }};
  for (const Loop& loop : loops) {
    threads_.push_back(
        base::StartThread("a loop of the server", [loop, stop = end_.get_token()] { loop(stop); }));
  }
}

void Server::EndThreads() {
  // Reviews end first, so that no request waits for an answer while the threads are joined.
  delegation_->Stop();
  end_.request_stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

absl::Status Server::Listen() {
  StartThreads();
  ASSIGN_OR_RETURN(base::HttpServerOptions http, HttpOptions(options_.serving, refused_bodies_));
  http.review_head = ReviewOfLongBodies(delegation_->authenticator());
  ASSIGN_OR_RETURN(http_, base::HttpServer::Start(std::move(http), chain_.Handler()));
  base::LogInfo("serving", {{"port", http_->port()}});
  return absl::OkStatus();
}

absl::Status Server::Run(const base::StopToken& stop) {
  // The threads do the work; this one only waits for the end.
  const absl::Status ended = AwaitEnd(stop);
  if (!ended.ok()) base::EndProcessAfter(StopLimit(options_.serving), kLate);
  const bool finished =
      kube::aggregation::EndService({.health = health_,
                                     .chain = chain_,
                                     .server = *http_,
                                     .delay = options_.serving.shutdown_delay,
                                     .patience = options_.serving.request_timeout},
                                    clock_, {});
  EndThreads();
  if (!ended.ok() || finished) return ended;
  return absl::DeadlineExceededError("answers that had begun were cut off");
}

}  // namespace

absl::Duration StopLimit(const ServingOptions& serving) {
  return serving.shutdown_delay + serving.request_timeout + absl::Seconds(30);
}

absl::StatusOr<std::unique_ptr<SearchServer>> SearchServer::Start(const SearchOptions& options,
                                                                  const Connections& connections,
                                                                  const base::StopToken& stop) {
  const base::Clock& clock = base::RealClock();
  SearchOptions present = options;
  Beginning b{.options = present, .connections = connections};
  const absl::Status checked =
      CheckControlPlane(*connections.loops, connections.control_plane.server, stop);
  // It is not fatal: caches can be filled, and requests answered, once the control plane can be
  // reached.
  if (!checked.ok()) base::LogError("the control plane cannot be used yet", {{"error", checked}});
  b.control_plane = std::make_unique<ControlPlane>(options, connections, clock, b.registry.get());
  ASSIGN_OR_RETURN(b.registries, RegistryService::Create({options, *b.control_plane, clock}));
  ASSIGN_OR_RETURN(b.to_control_plane,
                   ForwarderTo(api::kControlPlaneName, connections.control_plane));
  ASSIGN_OR_RETURN(b.delegation, Delegation::Start(DelegationOf(options, connections),
                                                   {connections.authentication,
                                                    connections.authorization, clock, *b.registry},
                                                   stop));
  // By now the control plane has answered, unless that is tolerated.
  present.Emulate(ReleaseFor(options, b.control_plane->client, stop));
  ASSIGN_OR_RETURN(b.audit, OpenAudit(present.audit, b.registry.get()));
  auto server = std::make_unique<Server>(std::move(b));
  RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<SearchServer>(std::move(server));
}

}  // namespace cmd
