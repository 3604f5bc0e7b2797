// The parts are those of the daemon (cmd/controller-manager/daemon.cc) without election, servers
// and members: no Cluster is ever connected to, because a plan ends with the Works.
//
// The loops are idle when the manager is, and every informer's store has what the server has.
// Events are kept in memory, and give the warnings of a plan.

#include "lens/plan/dry_loops.h"

#include <algorithm>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "base/threads.h"
#include "binding/binding_reconciler.h"
#include "binding/register.h"
#include "controllers/context/context.h"
#include "controllers/context/interpreter_options.h"
#include "controllers/dependencies/dependencies_reconciler.h"
#include "controllers/dependencies/register.h"
#include "detector/register.h"
#include "interpreter/live/live_interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/watched_kinds.h"

namespace lens::plan {
namespace {

constexpr char kFailed[] = "Failed";

// Keeps the last outcome of each thing that loops report on.
class EventLog : public kube::EventSink {
 public:
  void Record(absl::string_view source, const kube::InvolvedObject& about, kube::EventType type,
              absl::string_view reason, absl::string_view message) override {
    absl::string_view stem = reason;
    // So that the success of a thing finds the failure of the same thing, and ends its warning.
    if (!absl::ConsumeSuffix(&stem, kFailed)) absl::ConsumeSuffix(&stem, "Succeed");
    const Thing thing{std::string(source), about.kind,        about.ns,
                      about.name,          std::string(stem), SubjectOf(message)};
    absl::MutexLock lock(&mu_);
    if (type == kube::EventType::kNormal) {
      warnings_.erase(thing);
    } else {
      warnings_[thing] = {about.kind, about.ns, about.name, std::string(reason),
                          std::string(message)};
    }
  }

  std::vector<LoopWarning> Warnings() const {
    absl::MutexLock lock(&mu_);
    std::vector<LoopWarning> all;
    for (const auto& [thing, warning] : warnings_) all.push_back(warning);
    return all;
  }

 private:
  using Thing =
      std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

  // Events about override policies name policy and cluster before the outcome: "Apply override
  // policy(shop/web) for cluster(m1) failed.". Other events name nothing beside their object.
  static std::string SubjectOf(absl::string_view message) {
    constexpr absl::string_view kEnd = ") ";
    const size_t at = message.find(" for cluster(");
    if (at == absl::string_view::npos) return "";
    return std::string(message.substr(0, message.find(kEnd, at)));
  }

  mutable absl::Mutex mu_;
  std::map<Thing, LoopWarning> warnings_ ABSL_GUARDED_BY(mu_);
};

// No member can be reached.
class NoMembers : public kube::ClusterConfigSource {
 public:
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    return absl::NotFoundError(absl::StrCat("a plan does not connect to cluster ", cluster));
  }
};

// Lets deleted Works go, as the execution loop does once members have deleted their objects: other
// loops wait for that.
class WorkEnd : public kube::Reconciler {
 public:
  explicit WorkEnd(kube::ClusterClient& cluster) : cluster_(cluster) {}
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override {
    const kube::ObjectPtr work = cluster_.Find(api::Works(), request.key);
    if (work == nullptr || !work->IsDeleting()) return kube::Action::Done();
    RETURN_IF_ERROR(cluster_.RemoveFinalizer(api::Works(), work, api::kExecutionFinalizer, stop));
    return kube::Action::Done();
  }

 private:
  kube::ClusterClient& cluster_;
};

void RegisterWorkEnd(kube::Manager& manager) {
  kube::ControllerBuilder(manager)
      .Named("end-of-works")
      .Watches(api::Works(), {.when = {.update = kube::GenerationChanged}})
      .Build(std::make_unique<WorkEnd>(manager.cluster()));
}

kube::ManagerOptions DryManager() {
  kube::ManagerOptions options;
  options.health_address = "";
  options.metrics_address = "";
  options.leader_elect = false;
  return options;
}

bool HoldsWhatServerHas(const kube::Informer& informer, sandbox::Backend& server) {
  if (!informer.HasSynced()) return false;
  const auto there = server.List(informer.resource().gvr(), "", kube::LabelSelector());
  if (!there.ok()) return false;
  // Neither more nor fewer objects, and each in its present version: the loops have seen it all.
  if (there->size() != informer.store().size()) return false;
  for (const kube::ObjectPtr& object : *there) {
    const kube::ObjectPtr held = informer.store().Find(object->key());
    if (held == nullptr || held->resource_version() != object->resource_version()) return false;
  }
  return true;
}

}  // namespace

// In the order of construction; see Daemon in cmd/controller-manager/daemon.cc.
struct DryLoops::Parts {
  Parts(std::shared_ptr<kube::Transport> transport, const config::Options& given)
      : options(given),
        client(std::move(transport), {.name = "plan", .host = "plan", .user_agent = "karmada-lens"},
               base::RealClock(), nullptr) {}
  ~Parts() {
    stop.request_stop();
    if (runner.joinable()) runner.join();
    informers.Stop();
  }

  absl::Status Build() {
    const controllers::Context context{
        manager, members, objects, inventory, status_writer, rechecks, live.interpreter(),
        kinds,   options};
    manager.Add(kinds.NewRunnable());
    RegisterWorkEnd(manager);
    const config::Concurrency& workers = options.concurrency;
    RETURN_IF_ERROR(detector::RegisterDetector(context, workers.resource_template));
    RETURN_IF_ERROR(
        binding::RegisterBinding<api::scope::Namespaced>(context, workers.resource_binding));
    RETURN_IF_ERROR(
        binding::RegisterBinding<api::scope::Cluster>(context, workers.cluster_resource_binding));
    if (!options.gates.Enabled(config::Gate::kPropagateDeps)) return absl::OkStatus();
    return controllers::RegisterDependencies(context, workers.resource_binding);
  }

  const config::Options options;
  metrics::Registry registry;
  kube::Client client;
  kube::RestMapper mapper{client, base::RealClock()};
  kube::InformerSet informers{client, base::RealClock()};
  kube::ClusterClient cluster{client, mapper, informers};
  EventLog events;
  kube::WatchedKinds kinds{cluster, base::RealClock()};
  kube::Manager manager{DryManager(), cluster, events, base::RealClock(), registry};
  NoMembers no_members;
  kube::ClusterSet members{{}, no_members, base::RealClock(), nullptr};
  interpreter::live::LiveInterpreter live{manager, controllers::InterpreterOptions(options)};
  controllers::MemberInventory inventory{members};
  works::MemberObjects objects{{mapper, members, live.interpreter(), base::RealClock(), registry}};
  works::WorkStatusWriter status_writer{manager};
  works::Rechecks rechecks;
  base::StopSource stop;
  mutable absl::Mutex mu;
  absl::Status result ABSL_GUARDED_BY(mu);
  std::thread runner;
};

DryLoops::DryLoops(std::shared_ptr<kube::Transport> transport, const config::Options& options)
    : parts_(std::make_unique<Parts>(std::move(transport), options)) {}

DryLoops::~DryLoops() = default;

absl::Status DryLoops::Start() {
  RETURN_IF_ERROR(parts_->Build());
  RETURN_IF_ERROR(parts_->live.Load(parts_->stop.get_token()));
  parts_->runner = base::StartThread("the loops of the plan", [parts = parts_.get()] {
    const absl::Status result = parts->manager.Run(parts->stop.get_token());
    absl::MutexLock lock(&parts->mu);
    parts->result = result;
  });
  return absl::OkStatus();
}

absl::Status DryLoops::result() const {
  absl::MutexLock lock(&parts_->mu);
  return parts_->result;
}

bool DryLoops::IsIdle(sandbox::Backend& server) const {
  for (const auto& informer : parts_->informers.All()) {
    if (!HoldsWhatServerHas(*informer, server)) return false;
  }
  return parts_->manager.IsIdle();
}

bool DryLoops::Watch(const std::set<kube::Gvr>& kinds) const {
  std::set<kube::Gvr> watched;
  for (const auto& informer : parts_->informers.All()) {
    if (informer->HasSynced()) watched.insert(informer->resource().gvr());
  }
  return std::includes(watched.begin(), watched.end(), kinds.begin(), kinds.end());
}

const interpreter::Interpreter& DryLoops::interpreter() const { return parts_->live.interpreter(); }

std::vector<LoopWarning> DryLoops::Warnings() const { return parts_->events.Warnings(); }

}  // namespace lens::plan
