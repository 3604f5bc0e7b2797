// Three runnables keep the interpreter up to date; none has a thread while it waits. The first
// (Follow) is woken when a configuration object has changed or a hook may answer what it did not
// answer before, waits a moment for further changes, and reloads: it reads the objects, swaps
// changed sets into the layers, reports problems, and publishes which kinds and operations may be
// answered differently. Only then it looks for kinds that the control plane may have begun to
// serve, because that may take long: for those that customizations name, reloading once more if a
// problem was found or has ended, and for exploring webhook configurations. The second (Probe) asks
// hooks that are suspended, or whose failures were ignored, each when its pause is over. The third
// (LookForKinds) looks for the kinds that hooks were asked about before they were served, after
// each load and every kRecheck, and has the first load again when it finds one. Callbacks of
// informers and hooks only set flags and wake.

#include "interpreter/live/live_interpreter.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
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
#include "kube/runtime/periodic.h"

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

std::shared_ptr<const customized::CustomizationSet> Shipped() {
  auto set = customized::LoadShipped(customized::ShippedFiles());
  for (const auto& [name, problems] : set->problems()) {
    for (const customized::Problem& problem : problems) {
      base::LogError("a shipped customization has a problem",
                     {{"customization", name}, {"problem", problem.ToString()}});
    }
  }
  return set;
}

// Returns the layer with all shipped customizations loaded; their problems are logged.
std::unique_ptr<LuaBackend> NewShippedLayer(customized::LuaBackendOptions options,
                                            const LiveOptions& live) {
  options.layer = kShippedLayer;
  auto shipped = std::make_unique<LuaBackend>(options);
  shipped->Replace(live.shipped != nullptr ? live.shipped : Shipped());
  return shipped;
}

// Does something again and again, or when it is woken.
class Loop : public kube::Periodic {
 public:
  struct Steps {
    std::function<absl::Duration(const base::StopToken& stop)> tick;
    absl::Duration first;  // Until the first one.
  };
  Loop(const base::Clock& clock, std::string name, Steps steps)
      : Periodic(clock), name_(std::move(name)), steps_(std::move(steps)) {}
  std::string name() const override { return name_; }

 protected:
  absl::Duration Begin() override { return steps_.first; }
  absl::Duration Tick(const base::StopToken& stop) override { return steps_.tick(stop); }

 private:
  const std::string name_;
  const Steps steps_;
};

}  // namespace

class LiveInterpreter::Impl {
 public:
  Impl(kube::Manager& manager, const LiveOptions& options);
  ~Impl();

  const Interpreter& interpreter() const { return *chain_; }
  absl::Status Load(const base::StopToken& stop);

  // What the loops do; each returns when to do it again. They are apart, because a failing hook may
  // take its whole timeout, and a server that does not answer may hold up a look for long, and
  // reloads must not wait for either.
  //
  // Follows changes.
  absl::Duration Follow(const base::StopToken& stop);
  // Asks suspended hooks, each when its pause is over.
  absl::Duration Probe(const base::StopToken& stop);
  // Looks for kinds that hooks were asked about.
  absl::Duration LookForKinds(const base::StopToken& stop);

 private:
  // Adds a loop to the manager, which keeps it until the end.
  Loop& Add(std::string name, Loop::Steps steps);
  // There is something to load.
  void NoteNews();
  void Watch(const kube::Resource& resource);
  void Unwatch();
  // The kind has to be looked for because upstream's control planes do not serve it.
  void WatchExploringIfServed(const base::StopToken& stop);
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
  // They belong to the manager.
  Loop& follow_;
  Loop& probe_;
  Loop& look_for_kinds_;
  // Used by Follow alone.
  bool follows_ = false;
  base::SteadyTime recheck_;
  std::optional<base::SteadyTime> settled_;  // When changes that have come are loaded.

  absl::Mutex mu_;
  bool news_ ABSL_GUARDED_BY(mu_) = false;
  std::set<kube::Gvk> learnt_ ABSL_GUARDED_BY(mu_);  // Found by looks, for the next load.
  // Questions that hooks may answer now and did not answer before; their objects need not wait for
  // the end of their back-off.
  std::set<webhook::KindQuestion> waiting_ ABSL_GUARDED_BY(mu_);
  struct Attached {
    std::shared_ptr<kube::Informer> informer;
    int64_t handler;
  };
  std::vector<Attached> attached_ ABSL_GUARDED_BY(mu_);
};

LiveInterpreter::Impl::Impl(kube::Manager& manager, const LiveOptions& options)
    : manager_(manager),
      unknown_(manager.cluster().mapper()),
      unserved_(manager.cluster().mapper(), manager.clock()),
      configurations_(manager.cluster().informers(), unknown_, unserved_, options.merge),
      services_(manager.cluster().informers(),
                [this](const kube::ObjectKey& service) { hooks_->ServiceChanged(service); }),
      follow_(Add("interpreter configurations",
                  {[this](const auto& stop) { return Follow(stop); }, absl::ZeroDuration()})),
      probe_(Add("interpreter webhook probes",
                 {[this](const auto& stop) { return Probe(stop); }, absl::ZeroDuration()})),
      look_for_kinds_(Add("interpreter webhook kinds",
                          {[this](const auto& stop) { return LookForKinds(stop); }, kRecheck})) {
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
  layers.push_back(NewShippedLayer(lua, options));
  layers.push_back(NewNativeBackend(manager.clock(), options.requirements));
  chain_ = NewChain(std::move(layers), &manager.registry());

  Watch(api::InterpreterCustomizations());
  Watch(api::InterpreterWebhookConfigurations());
}

Loop& LiveInterpreter::Impl::Add(std::string name, Loop::Steps steps) {
  auto loop = std::make_unique<Loop>(manager_.clock(), std::move(name), std::move(steps));
  Loop& added = *loop;
  manager_.Add(std::move(loop), kube::Manager::Group::kAlways);
  return added;
}

void LiveInterpreter::Impl::NoteNews() {
  {
    absl::MutexLock lock(&mu_);
    news_ = true;
  }
  follow_.Wake();
}

LiveInterpreter::Impl::~Impl() { Unwatch(); }

void LiveInterpreter::Impl::Watch(const kube::Resource& resource) {
  const auto noted = [this] { NoteNews(); };
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
  // Who may not list them, as an agent, has a local informer, and need not know.
  const auto known = manager_.cluster().informers().Find(resource);
  if (known != nullptr && known->IsLocal()) return;
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

absl::Duration LiveInterpreter::Impl::Follow(const base::StopToken& stop) {
  const base::Clock& clock = manager_.clock();
  bool news;
  {
    absl::MutexLock lock(&mu_);
    news = news_;
  }
  if (std::exchange(follows_, true)) {
    const base::SteadyTime now = clock.SteadyNow();
    if (!news && now < recheck_) return recheck_ - now;
    if (news && !settled_.has_value()) settled_ = now + kSettle;
    if (news && now < *settled_) return *settled_ - now;
    settled_.reset();
    Reload(stop);
    LookForTargets(stop);
    WatchExploringIfServed(stop);
  } else {
    LookForTargets(stop);
  }
  recheck_ = std::min(clock.SteadyNow() + kRecheck, unserved_.NextLook());
  absl::MutexLock lock(&mu_);
  return news_ ? absl::ZeroDuration() : recheck_ - clock.SteadyNow();
}

absl::Duration LiveInterpreter::Impl::Probe(const base::StopToken& stop) {
  hooks_->Probe(stop);
  return hooks_->NextProbe() - manager_.clock().SteadyNow();
}

absl::Duration LiveInterpreter::Impl::LookForKinds(const base::StopToken& stop) {
  std::set<kube::Gvk> known = unknown_.TakeKnown(stop);
  if (known.empty()) return kRecheck;
  {
    absl::MutexLock lock(&mu_);
    learnt_.merge(known);
  }
  NoteNews();
  return kRecheck;
}

void LiveInterpreter::Impl::Reload(const base::StopToken& stop) {
  Difference difference;
  {
    absl::MutexLock lock(&mu_);
    news_ = false;
    difference.learnt.swap(learnt_);
  }
  look_for_kinds_.Wake();
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
  {
    absl::MutexLock lock(&mu_);
    waiting_.insert(questions.begin(), questions.end());
  }
  NoteNews();
}

void LiveInterpreter::Impl::PlanProbes() { probe_.Wake(); }

LiveInterpreter::LiveInterpreter(kube::Manager& manager, const LiveOptions& options)
    : impl_(std::make_unique<Impl>(manager, options)) {}

LiveInterpreter::~LiveInterpreter() = default;

const Interpreter& LiveInterpreter::interpreter() const { return impl_->interpreter(); }

absl::Status LiveInterpreter::Load(const base::StopToken& stop) { return impl_->Load(stop); }

}  // namespace interpreter::live
