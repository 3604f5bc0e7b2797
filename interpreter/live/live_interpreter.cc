// Three threads keep the interpreter up to date. The first (Follow) waits until a configuration
// object has changed or a hook may answer what it did not answer before, waits a moment for further
// changes, and reloads: it reads the objects, swaps changed sets into the layers, reports problems,
// and publishes which kinds and operations may be answered differently. Only then it looks for
// kinds that the control plane may have begun to serve, because that may take long: for those that
// customizations name, reloading once more if a problem was found or has ended, and for exploring
// webhook configurations. The second (Probe) asks hooks that are suspended, or whose failures were
// ignored, each when its pause is over. The third (LookForKinds) looks for the kinds that hooks
// were asked about before they were served, after each load and every kRecheck, and has the first
// load again when it finds one. Callbacks of informers and hooks only set flags.

#include "interpreter/live/live_interpreter.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "interpreter/live/breaker_events.h"
#include "interpreter/live/configuration_problems.h"
#include "interpreter/live/configurations.h"
#include "interpreter/live/hook_services.h"
#include "interpreter/live/loaded_configurations.h"
#include "interpreter/live/unknown_kinds.h"
#include "interpreter/live/unserved_targets.h"
#include "interpreter/rule_changes.h"
#include "interpreter/webhook/webhook_backend.h"

namespace interpreter::live {

namespace {

using customized::LuaBackend;
using webhook::WebhookBackend;

// Changes that come together (kubectl apply of a folder) are loaded once.
constexpr absl::Duration kSettle = absl::Milliseconds(100);
// How often the control plane is asked whether it serves exploring webhook configurations; also how
// soon a new leader reports problems found before it became the leader, and how often kinds that
// are not known yet are looked up again.
constexpr absl::Duration kRecheck = absl::Seconds(30);
// How long a new configuration that names a Service may have to wait for the list of Services.
constexpr absl::Duration kServicesWait = absl::Seconds(10);

// The differences between two states of both configurable layers.
struct Difference {
  std::vector<customized::KindOperation> scripts;
  std::shared_ptr<const customized::CustomizationSet> before, after;  // nullptr before the first.
  std::vector<webhook::RuleDifference> hooks;
  // Questions that hooks may answer now and did not answer before.
  std::set<webhook::KindQuestion> waiting;
  // Kinds that rules by resource can be compared with since the last load.
  std::set<kube::Gvk> learnt;
  bool empty() const {
    return scripts.empty() && hooks.empty() && waiting.empty() && learnt.empty();
  }
};

// Returns the layer with all shipped customizations loaded; their problems are logged.
std::unique_ptr<LuaBackend> NewShippedLayer(customized::LuaBackendOptions options) {
  options.layer = kShippedLayer;
  auto shipped = std::make_unique<LuaBackend>(options);
  auto set = customized::LoadShipped(customized::ShippedFiles());
  for (const auto& [name, problems] : set->problems()) {
    for (const customized::Problem& problem : problems) {
      base::LogError("a shipped customization has a problem",
                     {{"customization", name}, {"problem", problem.ToString()}});
    }
  }
  shipped->Replace(std::move(set));
  return shipped;
}

}  // namespace

class LiveInterpreter::Impl {
 public:
  Impl(kube::Manager& manager, const LiveOptions& options);
  ~Impl();

  const Interpreter& interpreter() const { return *chain_; }
  absl::Status Load(const base::StopToken& stop);
  // Follows changes until stopped.
  absl::Status Follow(const base::StopToken& stop);
  // Asks suspended hooks, each when its pause is over, until stopped. Runs on a thread of its own:
  // a failing hook may take its whole timeout, and reloads must not wait for that.
  absl::Status Probe(const base::StopToken& stop);
  // Looks for kinds that hooks were asked about until stopped. Runs on a thread of its own: a
  // server that does not answer may hold up a look for long, and reloads must not wait for that.
  absl::Status LookForKinds(const base::StopToken& stop);

 private:
  void Watch(const kube::Resource& resource);
  void Unwatch();
  // The kind has to be looked for because upstream's control planes do not serve it.
  void WatchExploringIfServed(const base::StopToken& stop);
  // Waits until `deadline` or until `flag` is set; returns `flag`.
  bool Await(const bool& flag, base::SteadyTime deadline, const base::StopToken& stop);
  void Reload(const base::StopToken& stop);
  void LookForTargets(const base::StopToken& stop);
  void ReloadScripts(Configurations::Findings& findings, Difference& difference);
  void ReloadHooks(Configurations::Findings& findings, Difference& difference,
                   const base::StopToken& stop);
  void Publish(const Difference& difference);
  void BreakerMoved(const webhook::Hook& hook, const webhook::BreakerChange& change,
                    const std::set<webhook::KindQuestion>& unanswered);
  void LookAgainAt(const std::set<webhook::KindQuestion>& questions);
  void PlanProbes();
  bool Touches(const Difference& difference, const kube::Gvk& gvk, Operation op) const;

  kube::Manager& manager_;
  UnknownKinds unknown_;
  UnservedTargets unserved_;
  Configurations configurations_;
  std::unique_ptr<Interpreter> chain_;
  LuaBackend* users_ = nullptr;  // Owned by the chain.
  WebhookBackend* hooks_ = nullptr;
  HookServices services_;  // Declared after what it calls, so that it is destroyed first.
  ConfigurationProblems problems_{manager_};
  LoadedConfigurations loaded_{manager_};
  bool exploring_ = false;

  absl::Mutex mu_;
  bool news_ ABSL_GUARDED_BY(mu_) = false;
  bool look_wanted_ ABSL_GUARDED_BY(mu_) = false;
  std::set<kube::Gvk> learnt_ ABSL_GUARDED_BY(mu_);  // Found by looks, for the next load.
  bool probe_wanted_ ABSL_GUARDED_BY(mu_) = false;   // A probe is due sooner than planned.
  // Questions that hooks may answer now and did not answer before; their objects need not wait for
  // the end of their back-off.
  std::set<webhook::KindQuestion> waiting_ ABSL_GUARDED_BY(mu_);
  struct Attached {
    std::shared_ptr<kube::Informer> informer;
    int64_t handler;
  };
  std::vector<Attached> attached_ ABSL_GUARDED_BY(mu_);
};

namespace {

class Loop : public kube::Runnable {
 public:
  Loop(std::string name, std::function<absl::Status(const base::StopToken&)> run)
      : name_(std::move(name)), run_(std::move(run)) {}
  std::string name() const override { return name_; }
  absl::Status Run(const base::StopToken& stop) override { return run_(stop); }

 private:
  const std::string name_;
  const std::function<absl::Status(const base::StopToken&)> run_;
};

}  // namespace

LiveInterpreter::Impl::Impl(kube::Manager& manager, const LiveOptions& options)
    : manager_(manager),
      unknown_(manager.cluster().mapper()),
      unserved_(manager.cluster().mapper(), manager.clock()),
      configurations_(manager.cluster().informers(), unknown_, unserved_, options.merge),
      services_(manager.cluster().informers(),
                [this](const kube::ObjectKey& service) { hooks_->ServiceChanged(service); }) {
  customized::LuaBackendOptions lua;
  lua.budget = options.script_budget;
  lua.requirements = options.requirements;
  lua.clock = &manager.clock();
  lua.metrics = &manager.registry();
  auto users = std::make_unique<LuaBackend>(lua);
  users_ = users.get();

  webhook::WebhookBackendOptions web;
  web.clock = &manager.clock();
  web.client.stop = manager.abort_token();
  web.client.transport = options.hook_transport;
  web.client.services = [this](const kube::ObjectKey& key) { return services_.Find(key); };
  web.monitor.metrics = &manager.registry();
  web.monitor.on_breaker_change = [this](const auto& hook, const auto& change,
                                         const auto& unanswered) {
    BreakerMoved(hook, change, unanswered);
  };
  web.monitor.on_worth_asking = [this](const auto&, const auto& waiting) { LookAgainAt(waiting); };
  web.monitor.on_probe_wanted = [this] { PlanProbes(); };
  auto hooks = std::make_unique<WebhookBackend>(std::move(web));
  hooks_ = hooks.get();

  std::vector<std::unique_ptr<Backend>> layers;
  layers.push_back(std::move(users));
  layers.push_back(std::move(hooks));
  layers.push_back(NewShippedLayer(lua));
  layers.push_back(NewNativeBackend(manager.clock(), options.requirements));
  chain_ = NewChain(std::move(layers), &manager.registry());

  Watch(api::InterpreterCustomizations());
  Watch(api::InterpreterWebhookConfigurations());
  manager.Add(std::make_unique<Loop>("interpreter configurations",
                                     [this](const auto& stop) { return Follow(stop); }),
              kube::Manager::Group::kAlways);
  manager.Add(std::make_unique<Loop>("interpreter webhook probes",
                                     [this](const auto& stop) { return Probe(stop); }),
              kube::Manager::Group::kAlways);
  manager.Add(std::make_unique<Loop>("interpreter webhook kinds",
                                     [this](const auto& stop) { return LookForKinds(stop); }),
              kube::Manager::Group::kAlways);
}

LiveInterpreter::Impl::~Impl() { Unwatch(); }

void LiveInterpreter::Impl::Watch(const kube::Resource& resource) {
  const auto noted = [this] {
    absl::MutexLock lock(&mu_);
    news_ = true;
  };
  kube::EventHandler handler;
  handler.on_add = [noted](const kube::ObjectPtr&, bool) { noted(); };
  handler.on_update = [noted](const kube::ObjectPtr&, const kube::ObjectPtr&) { noted(); };
  handler.on_delete = [noted](const kube::ObjectPtr&) { noted(); };
  const auto informer = manager_.cluster().informers().Get(resource);
  const int64_t id = informer->AddHandler(std::move(handler));
  absl::MutexLock lock(&mu_);
  attached_.push_back({informer, id});
}

void LiveInterpreter::Impl::Unwatch() {
  std::vector<Attached> attached;
  {
    absl::MutexLock lock(&mu_);
    attached.swap(attached_);
  }
  for (const Attached& a : attached) a.informer->RemoveHandler(a.handler);
}

void LiveInterpreter::Impl::WatchExploringIfServed(const base::StopToken& stop) {
  if (exploring_) return;
  const kube::Resource& resource = api::ExploringWebhookConfigurations();
  if (!manager_.cluster().mapper().ForKind(resource.gvk, stop).ok()) return;
  exploring_ = true;
  Watch(resource);
}

absl::Status LiveInterpreter::Impl::Load(const base::StopToken& stop) {
  WatchExploringIfServed(stop);
  std::vector<Attached> attached;
  {
    absl::MutexLock lock(&mu_);
    attached = attached_;
  }
  const base::SteadyTime deadline =
      manager_.clock().SteadyNow() + manager_.options().cache_sync_timeout;
  for (const Attached& a : attached) {
    RETURN_IF_ERROR(base::Annotate(a.informer->WaitForSync(deadline, stop),
                                   "loading the interpreter's configuration"));
  }
  Reload(stop);
  return absl::OkStatus();
}

absl::Status LiveInterpreter::Impl::Follow(const base::StopToken& stop) {
  LookForTargets(stop);
  while (!stop.stop_requested()) {
    const base::SteadyTime recheck = manager_.clock().SteadyNow() + kRecheck;
    const bool news = Await(news_, std::min(recheck, unserved_.NextLook()), stop);
    if (stop.stop_requested()) break;
    if (news && !manager_.clock().SleepFor(kSettle, stop)) break;
    Reload(stop);
    LookForTargets(stop);
    WatchExploringIfServed(stop);
  }
  return absl::OkStatus();
}

absl::Status LiveInterpreter::Impl::Probe(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    {
      absl::MutexLock lock(&mu_);
      probe_wanted_ = false;
    }
    Await(probe_wanted_, hooks_->NextProbe(), stop);
    hooks_->Probe(stop);
  }
  return absl::OkStatus();
}

absl::Status LiveInterpreter::Impl::LookForKinds(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    Await(look_wanted_, manager_.clock().SteadyNow() + kRecheck, stop);
    {
      absl::MutexLock lock(&mu_);
      look_wanted_ = false;
    }
    std::set<kube::Gvk> known = unknown_.TakeKnown(stop);
    if (known.empty()) continue;
    absl::MutexLock lock(&mu_);
    learnt_.merge(known);
    news_ = true;
  }
  return absl::OkStatus();
}

bool LiveInterpreter::Impl::Await(const bool& flag, base::SteadyTime deadline,
                                  const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return flag || stopped.IsSet(); };
  return manager_.clock().AwaitUntil(mu_, absl::Condition(&ready), deadline) && flag;
}

void LiveInterpreter::Impl::Reload(const base::StopToken& stop) {
  Difference difference;
  {
    absl::MutexLock lock(&mu_);
    news_ = false;
    look_wanted_ = true;
    difference.learnt.swap(learnt_);
  }
  const bool first = users_->set() == nullptr;
  Configurations::Findings findings;
  ReloadScripts(findings, difference);
  ReloadHooks(findings, difference, stop);
  {
    absl::MutexLock lock(&mu_);
    difference.waiting.swap(waiting_);
  }
  loaded_.Report(findings);  // Before the problems, so that `kubectl describe` ends with these.
  problems_.Report(findings);
  // The first load publishes nothing: no loop has asked anything yet.
  if (!first && !difference.empty()) Publish(difference);
}

void LiveInterpreter::Impl::LookForTargets(const base::StopToken& stop) {
  if (configurations_.LookForTargets(stop)) Reload(stop);
}

void LiveInterpreter::Impl::ReloadScripts(Configurations::Findings& findings,
                                          Difference& difference) {
  difference.before = users_->set();
  difference.after = configurations_.Customizations(findings);
  difference.scripts = customized::ChangedRules(difference.before.get(), difference.after.get());
  // Scripts are also replaced when the answers stay the same: errors, metrics and events contain
  // customizations' names.
  const bool same = difference.before != nullptr && *difference.before == *difference.after;
  if (!same) users_->Replace(difference.after);
}

void LiveInterpreter::Impl::ReloadHooks(Configurations::Findings& findings, Difference& difference,
                                        const base::StopToken& stop) {
  const auto before = hooks_->hooks();
  const auto hooks = configurations_.Hooks(findings);
  // The Services must be known before the first call.
  services_.Follow(*hooks, manager_.clock().SteadyNow() + kServicesWait, stop);
  if (before != nullptr && before->hooks() == hooks->hooks()) return;
  if (before != nullptr) difference.hooks = webhook::DifferencesBetween(*before, *hooks);
  hooks_->Replace(hooks);
}

bool LiveInterpreter::Impl::Touches(const Difference& difference, const kube::Gvk& gvk,
                                    Operation op) const {
  const bool scripts_differ =
      !difference.scripts.empty() &&
      customized::AnswersDiffer(difference.before.get(), difference.after.get(), {gvk, op});
  if (scripts_differ || difference.waiting.count({gvk, op}) > 0) return true;
  if (difference.learnt.count(gvk) > 0 && hooks_->Has(gvk, op)) return true;
  return std::any_of(
      difference.hooks.begin(), difference.hooks.end(), [&](const webhook::RuleDifference& hook) {
        return hook.operation == op && hook.kinds.Matches(gvk, hooks_->hooks()->lookup());
      });
}

void LiveInterpreter::Impl::Publish(const Difference& difference) {
  // The loops of a stand-by look at everything when they start, with the rules there are by then;
  // until then their queues stay empty.
  if (!manager_.IsLeader()) return;
  base::LogInfo("the interpreter's rules have changed", {{"scripts", difference.scripts.size()},
                                                         {"hooks", difference.hooks.size()},
                                                         {"waiting", difference.waiting.size()},
                                                         {"learnt", difference.learnt.size()}});
  chain_->rule_changes().Publish(
      [&](const kube::Gvk& gvk, Operation op) { return Touches(difference, gvk, op); });
}

void LiveInterpreter::Impl::BreakerMoved(const webhook::Hook& hook,
                                         const webhook::BreakerChange& change,
                                         const std::set<webhook::KindQuestion>& unanswered) {
  if (change.open) PlanProbes();
  LookAgainAt(unanswered);
  ReportBreakerChange(manager_, hook, change);
}

void LiveInterpreter::Impl::LookAgainAt(const std::set<webhook::KindQuestion>& questions) {
  if (questions.empty()) return;
  absl::MutexLock lock(&mu_);
  news_ = true;
  waiting_.insert(questions.begin(), questions.end());
}

void LiveInterpreter::Impl::PlanProbes() {
  absl::MutexLock lock(&mu_);
  probe_wanted_ = true;
}

LiveInterpreter::LiveInterpreter(kube::Manager& manager, const LiveOptions& options)
    : impl_(std::make_unique<Impl>(manager, options)) {}

LiveInterpreter::~LiveInterpreter() = default;

const Interpreter& LiveInterpreter::interpreter() const { return impl_->interpreter(); }

absl::Status LiveInterpreter::Load(const base::StopToken& stop) { return impl_->Load(stop); }

}  // namespace interpreter::live
