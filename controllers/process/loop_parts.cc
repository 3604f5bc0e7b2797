// The parts are constructed in the order of the class. What limits reads and writes comes after the
// informers and the client, and before what uses them. At the end they go in the reverse order;
// informers and members are stopped before that, because their handlers point into the loops.

#include "controllers/process/loop_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/programs.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/profiling/profile_server.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "config/served/release_watch.h"
#include "config/served/served_release.h"
#include "config/version.h"
#include "controllers/context/interpreter_options.h"
#include "controllers/process/listen_errors.h"
#include "controllers/process/member_memory.h"
#include "controllers/process/resync.h"
#include "controllers/process/warm_stand_by.h"
#include "kube/runtime/memory_watch.h"
#include "kube/runtime/periodic.h"
#include "kube/runtime/startup_health.h"

namespace controllers {
namespace {

constexpr int64_t kMemberBytesWithoutLimit = int64_t{1} << 30;

// Ends the manager when the control plane has become one of another release. The lease is given
// back, since this process leads again as the other release.
class ReleaseWatch : public kube::Periodic {
 public:
  // REQUIRES: `client` and `manager` outlive the runnable.
  ReleaseWatch(config::Release present, kube::Client& client, kube::Manager& manager)
      : Periodic(manager.clock()), present_(present), served_(client), manager_(manager) {}

  std::string name() const override { return "release watch"; }

 protected:
  absl::Duration Begin() override { return config::kReleaseLookPeriod; }
  absl::Duration Tick(const base::StopToken& stop) override {
    absl::Status other = config::CheckRelease(present_, served_, stop);
    if (!other.ok()) {
      manager_.GiveLeaseBackAtEnd();
      EndWith(std::move(other));
    }
    return config::kReleaseLookPeriod;
  }

 private:
  const config::Release present_;
  config::ServedRelease served_;
  kube::Manager& manager_;
};

kube::ManagerOptions ManagerOptionsOf(const config::Options& o, const LoopPartsOptions& wanted) {
  kube::ManagerOptions m;
  m.health_address = o.health_probe_bind_address;
  m.metrics_address = o.metrics_bind_address;
  // A shadow runs beside the leader, and must not report itself as one.
  m.leader_elect = o.leader_election.enabled && !wanted.lease_name.empty();
  m.lease_namespace = o.leader_election.resource_namespace;
  m.lease_name = wanted.lease_name;
  m.lease_duration = o.leader_election.lease_duration;
  m.renew_deadline = o.leader_election.renew_deadline;
  m.retry_period = o.leader_election.retry_period;
  m.release_lease = o.leader_election.release_on_exit;
  m.watch_lease = o.warm_stand_by;
  m.cache_sync_timeout = o.clusters.cache_sync_timeout;
  m.graceful_stop = wanted.graceful_stop;
  return m;
}

int64_t MemberBytesOf(const config::Options& options, const SharedParts& shared) {
  const int64_t bytes = kube::MemberBytes(options.clusters.memory_mib, base::ReadMemoryUse(),
                                          kMemberBytesWithoutLimit);
  return shared.member_bytes == nullptr ? bytes : std::min(bytes, shared.member_bytes->limit());
}

kube::ClusterSet::Options MemberOptions(const config::Options& o, const LoopPartsOptions& wanted,
                                        std::shared_ptr<kube::InformerThreads> threads,
                                        int64_t bytes,
                                        std::function<void(const std::string&)> on_full) {
  kube::ClusterSet::Options m;
  m.decorate = [shadow = wanted.shadow, fence = wanted.fence](
                   const std::string& cluster, std::shared_ptr<kube::Transport> transport) {
    return shadow == nullptr ? fence->Over(std::move(transport))
                             : shadow->Over(cluster, std::move(transport));
  };
  m.new_transport = wanted.to_member;
  m.informer_threads = std::move(threads);
  m.discoveries = wanted.shared.discoveries;
  m.member_bytes = bytes;
  m.total_bytes = wanted.shared.member_bytes;
  m.unfiltered_share = 0.75;
  m.on_bytes_exceeded = std::move(on_full);
  m.qps = o.cluster_api_qps;
  m.burst = o.cluster_api_burst;
  m.user_agent = config::UserAgent(wanted.program);
  // Members are full of objects that are not Karmada's; only Karmada's own are cached.
  m.on_new = [](kube::MemberCluster& member) {
    kube::InformerOptions informer;
    informer.label_selector = absl::StrCat(api::kManagedLabel, "=", api::kManagedValue);
    member.client().informers().SetDefaultOptions(informer);
  };
  return m;
}

// A shadow reports in its own way: events would be writes.
std::unique_ptr<kube::EventSink> EventSinkOf(const config::Options& options, kube::Client& client,
                                             std::shared_ptr<kube::WorkerPool> pool) {
  if (options.shadow) return kube::NewNullEventSink();
  kube::EventOptions events;
  events.routine = options.success_events == config::SuccessEvents::kUpstream;
  events.pool = std::move(pool);
  return kube::NewEventSink(client, base::RealClock(), events);
}

interpreter::live::LiveOptions InterpreterOf(const config::Options& options,
                                             const LoopPartsOptions& wanted) {
  interpreter::live::LiveOptions live = InterpreterOptions(options);
  live.shipped = wanted.shared.shipped;
  return live;
}

kube::ClientOptions LoopsClient(const config::Options& options, const LoopPartsOptions& wanted,
                                const PlaneMemory* memory) {
  kube::ClientOptions c = ControlPlaneClient(options, wanted.program, wanted.host);
  if (memory != nullptr) c.memory = memory->budget();
  return c;
}

// Returns `part`, or a new one on the real clock if there is none.
template <class Part>
std::shared_ptr<Part> OrOwn(std::shared_ptr<Part> part) {
  return part != nullptr ? std::move(part) : std::make_shared<Part>(base::RealClock());
}

}  // namespace

kube::ClientOptions ControlPlaneClient(const config::Options& options, absl::string_view program,
                                       const std::string& host) {
  kube::ClientOptions c;
  c.name = api::kControlPlaneName;
  c.host = host;
  c.qps = options.kube_api_qps;
  c.burst = options.kube_api_burst;
  c.user_agent = config::UserAgent(program);
  return c;
}

kube::ClientOptions LeaseClient(const config::Options& options, absl::string_view program,
                                const std::string& host) {
  kube::ClientOptions c = ControlPlaneClient(options, program, host);
  c.qps = 0;
  c.timeout = options.leader_election.renew_deadline / 2;
  return c;
}

LoopParts::LoopParts(const config::Options& options, const LoopPartsOptions& wanted)
    : options_(options),
      fence_(wanted.fence),
      ends_process_(wanted.ends_process),
      has_memory_watch_(!wanted.shared.has_memory_watch),
      registry_(wanted.registry != nullptr ? wanted.registry
                                           : std::make_shared<metrics::Registry>()),
      pool_(OrOwn(wanted.shared.pool)),
      member_bytes_(MemberBytesOf(options, wanted.shared)),
      plane_memory_(wanted.ends_process
                        ? nullptr
                        : std::make_unique<PlaneMemory>(member_bytes_, wanted.shared.member_bytes)),
      client_(wanted.loops, LoopsClient(options, wanted, plane_memory_.get()), base::RealClock(),
              registry_.get()),
      lease_client_(wanted.leases, LeaseClient(options, wanted.program, wanted.host),
                    base::RealClock(), registry_.get()),
      mapper_(client_, base::RealClock(), wanted.shared.discoveries),
      informer_threads_(OrOwn(wanted.shared.informer_threads)),
      informers_(client_, base::RealClock(), informer_threads_),
      cluster_(client_, mapper_, informers_),
      events_(EventSinkOf(options, client_, pool_)),
      kinds_(Limited(wanted), base::RealClock()),
      manager_(ManagerOptionsOf(options, wanted), cluster_, *events_, base::RealClock(),
               *registry_),
      config_source_(wanted.members(cluster_)),
      members_(MemberOptions(options, wanted, informer_threads_, member_bytes_,
                             [this](const std::string& cluster) { ReportFull(cluster); }),
               *config_source_, base::RealClock(), registry_.get()),
      live_(manager_, InterpreterOf(options, wanted)),
      inventory_(members_),
      objects_({mapper_, members_, live_.interpreter(), base::RealClock(), *registry_,
                options.server_side_apply, RepairsOf(options.release)}),
      status_writer_(manager_, RateLimiterOf(options.rate_limits), options.concurrency.work),
      edit_times_(cluster_, base::RealClock(), *registry_),
      context_{manager_,
               members_,
               objects_,
               inventory_,
               status_writer_,
               rechecks_,
               live_.interpreter(),
               kinds_,
               options,
               wanted.shadow,
               wanted.served,
               &edit_times_} {
  manager_.UseForElection(lease_client_);
  manager_.UsePool(pool_);
  if (fence_ != nullptr) manager_.UseFence(*fence_);
}

kube::ClusterClient& LoopParts::Limited(const LoopPartsOptions& wanted) {
  if (wanted.limit) wanted.limit(informers_, cluster_);
  if (plane_memory_ != nullptr) plane_memory_->Limit(informers_);
  return cluster_;
}

void LoopParts::StopInformers() {
  informers_.Stop();
  for (const std::string& name : members_.Names()) members_.Remove(name);
}

void LoopParts::ReportFull(const std::string& cluster) {
  // A stand-by writes nothing; the leader has the same objects, and says so.
  const bool stands_by = options_.warm_stand_by && !manager_.IsLeader();
  if (!stands_by) ReportMemberBytes(cluster, member_bytes_, cluster_, *events_);
  CountMemberBytes(cluster, *registry_);
}

void LoopParts::ShowBuild() {
  registry_->GetGauge("karmada_build_info", "What this build is.", config::BuildLabels()).Set(1);
  config::ShowRelease(options_.release, *registry_);
  config::LogRelease(options_.release, options_.wanted_release.has_value());
}

void LoopParts::AddRunnables() {
  if (has_memory_watch_) {
    manager_.Add(std::make_unique<kube::MemoryWatch>(manager_.clock(), *registry_,
                                                     kube::MemoryWatch::Options()),
                 kube::Manager::Group::kAlways);
  }
  if (plane_memory_ != nullptr) {
    manager_.Add(plane_memory_->NewWatch(manager_.clock()), kube::Manager::Group::kAlways);
  }
  // Without the flag the process is of the release of the control plane, also after an upgrade of
  // it.
  if (!options_.wanted_release.has_value()) {
    manager_.Add(std::make_unique<ReleaseWatch>(options_.release, client_, manager_),
                 kube::Manager::Group::kAlways);
  }
  if (options_.warm_stand_by && manager_.options().leader_elect) {
    if (fence_ != nullptr) fence_->Close();
    manager_.Add(std::make_unique<WarmStandBy>(context_), kube::Manager::Group::kAlways);
  }
  if (options_.resync_period > absl::ZeroDuration()) {
    manager_.Add(
        std::make_unique<Resync>(options_.resync_period, base::RealClock(), informers_, members_));
  }
}

absl::Status LoopParts::LoadInterpreter(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<base::HttpServer> health,
                   kube::ServeStartupHealth(
                       options_.health_probe_bind_address,
                       {"interpreter", "the interpreter's configurations have not been read yet"}));
  if (plane_memory_ == nullptr) return live_.Load(stop);
  return plane_memory_->Guard(stop,
                              [this](const base::StopToken& either) { return live_.Load(either); });
}

absl::Status LoopParts::Begin(std::function<void()> on_failure) {
  return WithListenFlag(manager_.Begin(std::move(on_failure)), options_);
}

absl::Status LoopParts::Run(const base::StopToken& stop) {
  std::unique_ptr<profiling::ProfileServer> profiles;
  if (options_.profiling.enabled) {
    auto started =
        profiling::ProfileServer::Start(options_.profiling.bind_address, base::RealClock());
    RETURN_IF_ERROR(WithProfilingFlag(started.status(), options_));
    profiles = *std::move(started);
  }
  const absl::Status result = WithListenFlag(manager_.Run(stop), options_);
  // The limit applies also when the program ended by itself, for example because it lost its lease.
  if (ends_process_) base::EndProcessAfter(kStopLimit, 1);
  return result;
}

}  // namespace controllers
