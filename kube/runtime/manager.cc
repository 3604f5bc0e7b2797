// Run starts the parts in this order: the servers, the group `always`, and then the election, or
// the group `leaders` at once when there is no election. When the election has the lease it calls
// BecomeLeader, which starts `leaders`, and renews the lease meanwhile: with many cached objects it
// takes seconds to prepare the loops. A lease that is lost by then starts none of them. AwaitStop
// waits for the caller's stop or for the first failure of any runnable. StopAll then ends
// `leaders`, `election` and `always`, one after the other and with the same two deadlines for all:
// after two thirds of the graceful period abort_token stops, which cuts off the calls under way,
// and at its end whoever still runs is named in the error. The servers go last.
//
// A lost lease is a failure of the group `election`. Its callback stops abort_token before it
// reports the failure, since another process may act from then on. A manager leads at most once:
// after the loss Run returns. mu guards the flags, the first failure and the servers, and it is not
// held while a group starts or stops.

#include "kube/runtime/manager.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/runtime/failing_keys.h"
#include "kube/runtime/internal/http_endpoints.h"
#include "kube/runtime/internal/leader_elector.h"
#include "kube/runtime/internal/task_group.h"
#include "kube/runtime/serving_names.h"
#include "kube/runtime/worker_pool.h"

namespace kube {
namespace {

// Contends for the lease while it runs, and starts the leader's group when elected.
class Candidate : public Runnable {
 public:
  struct Calls {
    LeaderElector::OnElected on_elected;
    std::function<bool()> may_release;  // Asked after a stop.
    base::StopToken abort;              // Ends the release.
  };
  Candidate(std::unique_ptr<LeaderElector> elector, Calls calls)
      : elector_(std::move(elector)), calls_(std::move(calls)) {}
  std::string name() const override { return "leader election"; }
  absl::Status Run(const base::StopToken& stop) override {
    const absl::Status ended = elector_->Run(stop, calls_.on_elected);
    if (ended.ok() && calls_.may_release()) elector_->Release(calls_.abort);
    return ended;
  }

 private:
  const std::unique_ptr<LeaderElector> elector_;
  const Calls calls_;
};

// Returns the checks of /readyz, which say whether this process has the data with which it could
// lead: "api-server" (fails while none of the informers can list or watch) and "informer-sync"
// (fails until one has synced; names those that have not). One kind that cannot be watched does not
// make the process unready, because everything else works.
std::vector<internal::HealthCheck> CheckInformers(const InformerSet& informers) {
  std::vector<std::shared_ptr<Informer>> all = informers.All();
  std::erase_if(all, [](const auto& informer) { return informer->IsLocal(); });
  size_t failing = 0;
  absl::Status why;
  std::vector<std::string> not_synced;
  for (const std::shared_ptr<Informer>& informer : all) {
    const absl::Status error = informer->last_error();
    failing += error.ok() ? 0 : 1;
    why.Update(error);
    if (!informer->HasSynced()) not_synced.push_back(informer->resource().gvr().ToString());
  }
  internal::HealthCheck server{.name = "api-server", .ok = all.empty() || failing < all.size()};
  if (failing > 0) {
    server.remark = absl::StrCat(failing, " of ", all.size(), " watches fail: ", why.message());
  }
  internal::HealthCheck sync{.name = "informer-sync",
                             .ok = all.empty() || not_synced.size() < all.size()};
  if (!not_synced.empty()) {
    sync.remark = absl::StrCat("waiting for ", absl::StrJoin(not_synced, ", "));
  }
  return {std::move(server), std::move(sync)};
}

// Returns the failure of a runnable, all of which have ended. Its code is not that of threads which
// still run, which a cache that could not be read in time has as well.
absl::Status AfterEnd(const absl::Status& failure) {
  if (!absl::IsDeadlineExceeded(failure)) return failure;
  return absl::UnavailableError(failure.message());
}

}  // namespace

struct Manager::Impl {
  Impl(ManagerOptions given, ClusterClient& cluster, EventSink& events, const base::Clock& clock,
       metrics::Registry& registry)
      : options(std::move(given)),
        cluster(cluster),
        events(events),
        clock(clock),
        registry(registry),
        election_client(&cluster.raw()),
        pool(std::make_shared<WorkerPool>(clock)) {}

  const ManagerOptions options;
  ClusterClient& cluster;
  EventSink& events;
  const base::Clock& clock;
  metrics::Registry& registry;
  Client* election_client;
  std::shared_ptr<WorkerPool> pool;
  LeaderFence* fence = nullptr;
  internal::Pages pages;             // Beside /metrics.
  std::function<void()> on_failure;  // May be empty.
  base::StopSource abort;

  mutable absl::Mutex mu;
  bool stopping ABSL_GUARDED_BY(mu) = false;
  bool leader ABSL_GUARDED_BY(mu) = false;
  bool loops_have_ended ABSL_GUARDED_BY(mu) = false;
  bool gives_lease_back ABSL_GUARDED_BY(mu) = false;  // Besides the option.
  absl::Status failure ABSL_GUARDED_BY(mu);           // The first failure.
  std::unique_ptr<base::HttpServer> health_server ABSL_GUARDED_BY(mu);
  std::unique_ptr<base::HttpServer> metrics_server ABSL_GUARDED_BY(mu);

  // In the order of starting; destroyed in reverse.
  internal::TaskGroup always{pool, [this](const absl::Status& status) { Fail(status); }};
  internal::TaskGroup election{pool, [this](const absl::Status& status) {
                                 abort.request_stop();  // Another process may lead from now on.
                                 Fail(status);
                               }};
  internal::TaskGroup leaders{pool, [this](const absl::Status& status) { Fail(status); }};

  void Fail(const absl::Status& status);
  std::vector<internal::HealthCheck> Readiness();
  absl::Status StartServers();
  void StopServers();
  absl::Status Start();
  void BecomeLeader(const base::StopToken& over);
  bool MayRelease();
  void AwaitStop(const base::StopToken& stop);
  absl::Status StopAll();
  std::string Metrics();
};

void Manager::Impl::Fail(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu);
    failure.Update(status);
  }
  if (on_failure) on_failure();
}

std::string Manager::Impl::Metrics() {
  always.UpdateMetrics();
  leaders.UpdateMetrics();
  return registry.Expose();
}

// A stand-by is ready too: the check of leadership is informative and never fails.
std::vector<internal::HealthCheck> Manager::Impl::Readiness() {
  std::vector<internal::HealthCheck> checks = CheckInformers(cluster.informers());
  absl::MutexLock lock(&mu);
  checks.push_back({.name = "leader-election", .remark = leader ? "leader" : "stand-by"});
  return checks;
}

absl::Status Manager::Impl::StartServers() {
  auto health = internal::Serve(options.health_address, [this](const base::HttpRequest& request) {
    return internal::AnswerHealth(request, [this] { return Readiness(); });
  });
  RETURN_IF_ERROR(base::Annotate(health.status(), kServingHealth));
  auto metrics = internal::Serve(options.metrics_address, [this](const base::HttpRequest& request) {
    return internal::AnswerMetrics(
        request, [this] { return Metrics(); }, pages);
  });
  RETURN_IF_ERROR(base::Annotate(metrics.status(), kServingMetrics));
  if (*health != nullptr || *metrics != nullptr) {
    base::LogInfo("serving", {{"health", *health == nullptr ? 0 : (*health)->port()},
                              {"metrics", *metrics == nullptr ? 0 : (*metrics)->port()}});
  }
  absl::MutexLock lock(&mu);
  // Both are bound before either is published: a port that is taken is an error of the start.
  health_server = *std::move(health);
  metrics_server = *std::move(metrics);
  return absl::OkStatus();
}

void Manager::Impl::StopServers() {
  std::unique_ptr<base::HttpServer> health, metrics;
  absl::MutexLock lock(&mu);
  health.swap(health_server);
  metrics.swap(metrics_server);
}

// Nothing is started once `over` is stopped: another process may lead by then.
void Manager::Impl::BecomeLeader(const base::StopToken& over) {
  {
    absl::MutexLock lock(&mu);
    leader = true;
  }
  leaders.Start(over);
}

// A loop that still runs, after the graceful period, must not meet that of another leader.
bool Manager::Impl::MayRelease() {
  absl::MutexLock lock(&mu);
  return (options.release_lease || gives_lease_back) && loops_have_ended;
}

absl::Status Manager::Impl::Start() {
  std::unique_ptr<LeaderElector> elector;
  if (options.leader_elect) {
    ASSIGN_OR_RETURN(elector,
                     LeaderElector::Create({.lease_namespace = options.lease_namespace,
                                            .lease_name = options.lease_name,
                                            .identity = options.identity,
                                            .lease_duration = options.lease_duration,
                                            .renew_deadline = options.renew_deadline,
                                            .retry_period = options.retry_period,
                                            .watch = options.release_lease || options.watch_lease,
                                            .is_own = options.lease_is_own},
                                           {*election_client, events, clock, registry, fence}));
  }
  RETURN_IF_ERROR(StartServers());
  always.Start();
  if (elector == nullptr) {
    if (!options.lease_name.empty()) MasterStatus(registry, options.lease_name).Set(1);
    BecomeLeader(base::StopToken());
    return absl::OkStatus();
  }
  election.Add(std::make_unique<Candidate>(
      std::move(elector),
      Candidate::Calls{.on_elected = [this](const base::StopToken& over) { BecomeLeader(over); },
                       .may_release = [this] { return MayRelease(); },
                       .abort = abort.get_token()}));
  election.Start();
  return absl::OkStatus();
}

void Manager::Impl::AwaitStop(const base::StopToken& stop) {
  base::StopCallback wake(stop, [this] {
    absl::MutexLock lock(&mu);
    stopping = true;
  });
  // Declared after `wake`, so that it is released first: the destructor of `wake` waits for a
  // callback that is running.
  absl::MutexLock lock(&mu);
  const auto over = [this]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return stopping || !failure.ok(); };
  mu.Await(absl::Condition(&over));
}

// The loops end first, while the lease is still held; the servers answer until the end.
absl::Status Manager::Impl::StopAll() {
  const base::SteadyTime deadline = clock.SteadyNow() + options.graceful_stop;
  const base::SteadyTime abort_at = clock.SteadyNow() + options.graceful_stop * 2 / 3;
  std::vector<std::string> running;
  for (internal::TaskGroup* group : {&leaders, &election, &always}) {
    // The order is that of the loop: no loop runs any more when the lease is given up, and the
    // servers answer until the end.
    group->RequestStop();
    bool ended = group->AwaitEnd(clock, abort_at);
    if (!ended) {
      abort.request_stop();
      ended = group->AwaitEnd(clock, deadline);
    }
    if (group == &leaders) {
      absl::MutexLock lock(&mu);
      loops_have_ended = ended;
    }
    if (ended) continue;
    for (std::string& name : group->Running()) running.push_back(std::move(name));
  }
  StopServers();
  absl::MutexLock lock(&mu);
  leader = false;
  if (running.empty()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("still running after the graceful period of ",
                                                  absl::FormatDuration(options.graceful_stop), ": ",
                                                  absl::StrJoin(running, ", ")));
}

Manager::Manager(ManagerOptions options, ClusterClient& cluster, EventSink& events,
                 const base::Clock& clock, metrics::Registry& registry)
    : impl_(std::make_unique<Impl>(std::move(options), cluster, events, clock, registry)) {}

Manager::~Manager() {
  impl_->abort.request_stop();
  impl_->StopServers();
}

ClusterClient& Manager::cluster() { return impl_->cluster; }
EventSink& Manager::events() { return impl_->events; }
const base::Clock& Manager::clock() const { return impl_->clock; }
metrics::Registry& Manager::registry() { return impl_->registry; }
const ManagerOptions& Manager::options() const { return impl_->options; }
void Manager::UsePool(std::shared_ptr<WorkerPool> pool) { impl_->pool = std::move(pool); }
WorkerPool& Manager::pool() { return *impl_->pool; }
base::StopToken Manager::abort_token() const { return impl_->abort.get_token(); }

void Manager::UseForElection(Client& client) { impl_->election_client = &client; }

void Manager::UseFence(LeaderFence& fence) { impl_->fence = &fence; }

void Manager::GiveLeaseBackAtEnd() {
  absl::MutexLock lock(&impl_->mu);
  impl_->gives_lease_back = true;
}

void Manager::ServeBesideMetrics(std::string path, std::function<std::string()> page) {
  impl_->pages[std::move(path)] = std::move(page);
}

void Manager::Add(std::unique_ptr<Runnable> runnable, Group group) {
  (group == Group::kLeader ? impl_->leaders : impl_->always).Add(std::move(runnable));
}

absl::Status Manager::Run(const base::StopToken& stop) {
  RETURN_IF_ERROR(impl_->Start());
  impl_->AwaitStop(stop);
  return End();
}

absl::Status Manager::Begin(std::function<void()> on_failure) {
  impl_->on_failure = std::move(on_failure);
  return impl_->Start();
}

absl::Status Manager::End() {
  base::LogInfo("stopping");
  const absl::Status stopped = impl_->StopAll();
  absl::MutexLock lock(&impl_->mu);
  if (impl_->failure.ok()) return stopped;
  if (stopped.ok()) return AfterEnd(impl_->failure);
  // If both have failed, the process must not destroy what its threads use: the code has to be that
  // of StopAll.
  return absl::DeadlineExceededError(
      absl::StrCat(impl_->failure.message(), "; ", stopped.message()));
}

std::string Manager::Metrics() { return impl_->Metrics(); }

bool Manager::IsLeader() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->leader;
}

bool Manager::IsIdle() const { return impl_->leaders.IsIdle() && impl_->always.IsIdle(); }

Manager::Failures Manager::Failing(size_t most) const {
  Failures failures;
  const auto add = [&](const Runnable& runnable) {
    const FailingKeys* const keys = runnable.failing();
    if (keys == nullptr) return;
    failures.count += keys->size();
    for (FailingKeys::Item& item : keys->List(most - failures.some.size())) {
      failures.some.push_back({keys->controller(), item.request.ToString(), std::move(item.error)});
    }
  };
  impl_->always.ForEach(add);
  impl_->leaders.ForEach(add);
  return failures;
}

int Manager::health_port() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->health_server == nullptr ? 0 : impl_->health_server->port();
}

int Manager::metrics_port() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->metrics_server == nullptr ? 0 : impl_->metrics_server->port();
}

}  // namespace kube
