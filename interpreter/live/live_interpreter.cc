#include "interpreter/live/live_interpreter.h"

#include <algorithm>
#include <functional>
#include <map>
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
#include "interpreter/rule_changes.h"
#include "interpreter/webhook/configuration.h"
#include "interpreter/webhook/webhook_backend.h"

namespace interpreter::live {

namespace {

using customized::Customization;
using customized::CustomizationSet;
using customized::LuaBackend;
using webhook::HookSet;
using webhook::WebhookBackend;

// Changes that come together (kubectl apply of a folder) are loaded once.
constexpr absl::Duration kSettle = absl::Milliseconds(100);
// How often the control plane is asked whether it serves exploring webhook configurations by now;
// also how soon a new leader tells problems that were found while it was none.
constexpr absl::Duration kRecheck = absl::Seconds(30);

// What differs between two states of both configurable layers.
struct Difference {
  std::vector<customized::KindOperation> scripts;  // Sorted.
  std::vector<webhook::RuleDifference> hooks;
  std::set<webhook::KindQuestion> resumed;  // What hooks that answer again left unanswered.
  bool empty() const { return scripts.empty() && hooks.empty() && resumed.empty(); }
};

}  // namespace

class LiveInterpreter::Impl {
 public:
  Impl(kube::Manager& manager, const LiveOptions& options);
  ~Impl();

  const Interpreter& interpreter() const { return *chain_; }
  absl::Status Load(const base::StopToken& stop);
  // Follows changes until stopped.
  absl::Status Follow(const base::StopToken& stop);
  // Asks suspended hooks, each in its time, until stopped. On a thread of its own, since a hook may
  // take its timeout to fail and changes must not wait for that.
  absl::Status Probe(const base::StopToken& stop);

 private:
  // A parsed customization and the version of the object it was parsed from.
  struct Parsed {
    std::string version;
    std::shared_ptr<const Customization> customization;
  };

  void Watch(const kube::Resource& resource);
  void Unwatch();
  // Exploring webhook configurations are not part of upstream's control planes.
  void WatchExploringIfServed(const base::StopToken& stop);
  // Waits until `deadline` or until `flag` is set; whether it is.
  bool Await(const bool& flag, base::SteadyTime deadline, const base::StopToken& stop);
  void Reload();
  std::shared_ptr<const CustomizationSet> ReadCustomizations(
      std::vector<ConfigurationProblems::Finding>& findings);
  std::shared_ptr<const HookSet> ReadHooks(std::vector<ConfigurationProblems::Finding>& findings);
  void Publish(const Difference& difference);
  void BreakerMoved(const webhook::Hook& hook, const webhook::BreakerChange& change,
                    const std::set<webhook::KindQuestion>& unanswered);
  webhook::ResourceLookup Lookup() {
    return [this](const kube::Gvk& gvk) { return manager_.cluster().mapper().Known(gvk); };
  }

  kube::Manager& manager_;
  std::unique_ptr<Interpreter> chain_;
  LuaBackend* users_ = nullptr;  // The chain owns the layers.
  WebhookBackend* hooks_ = nullptr;
  ConfigurationProblems problems_;
  std::map<std::string, Parsed> parsed_;
  bool exploring_ = false;

  absl::Mutex mu_;
  bool news_ ABSL_GUARDED_BY(mu_) = false;
  bool suspended_ ABSL_GUARDED_BY(mu_) = false;  // A hook was, since probes were planned last.
  // What hooks that answer again left unanswered: it need not sit out its back-off.
  std::set<webhook::KindQuestion> resumed_ ABSL_GUARDED_BY(mu_);
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

std::unique_ptr<LuaBackend> ShippedLayer(customized::LuaBackendOptions options) {
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

LiveInterpreter::Impl::Impl(kube::Manager& manager, const LiveOptions& options)
    : manager_(manager), problems_(manager) {
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
  web.client.services = [this](const kube::ObjectKey& key) {
    const auto service = manager_.cluster().Get(api::Services(), key, manager_.abort_token());
    return service.value_or(nullptr);
  };
  web.monitor.metrics = &manager.registry();
  web.monitor.on_breaker_change = [this](const auto& hook, const auto& change,
                                         const auto& unanswered) {
    BreakerMoved(hook, change, unanswered);
  };
  auto hooks = std::make_unique<WebhookBackend>(std::move(web));
  hooks_ = hooks.get();

  std::vector<std::unique_ptr<Backend>> layers;
  layers.push_back(std::move(users));
  layers.push_back(std::move(hooks));
  layers.push_back(ShippedLayer(lua));
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
  Reload();
  return absl::OkStatus();
}

absl::Status LiveInterpreter::Impl::Follow(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    const bool news = Await(news_, manager_.clock().SteadyNow() + kRecheck, stop);
    if (stop.stop_requested()) break;
    WatchExploringIfServed(stop);
    if (news && !manager_.clock().SleepFor(kSettle, stop)) break;
    Reload();
  }
  return absl::OkStatus();
}

absl::Status LiveInterpreter::Impl::Probe(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    {
      absl::MutexLock lock(&mu_);
      suspended_ = false;
    }
    Await(suspended_, hooks_->NextProbe(), stop);
    hooks_->Probe(stop);
  }
  return absl::OkStatus();
}

bool LiveInterpreter::Impl::Await(const bool& flag, base::SteadyTime deadline,
                                  const base::StopToken& stop) {
  bool stopped = false;
  const base::StopCallback wake(stop, [&] {
    absl::MutexLock lock(&mu_);
    stopped = true;
  });
  absl::MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return flag || stopped; };
  return manager_.clock().AwaitUntil(mu_, absl::Condition(&ready), deadline) && flag;
}

void LiveInterpreter::Impl::Reload() {
  Difference difference;
  {
    absl::MutexLock lock(&mu_);
    news_ = false;
    difference.resumed.swap(resumed_);
  }
  std::vector<ConfigurationProblems::Finding> findings;

  const auto scripts_before = users_->set();
  const auto scripts = ReadCustomizations(findings);
  difference.scripts = customized::ChangedRules(scripts_before.get(), scripts.get());
  // Also when the answers stay the same: errors, metrics and events tell names.
  if (scripts_before == nullptr || *scripts_before != *scripts) users_->Replace(scripts);

  const auto hooks_before = hooks_->hooks();
  const auto hooks = ReadHooks(findings);
  if (hooks_before != nullptr) {
    difference.hooks = webhook::DifferencesBetween(*hooks_before, *hooks);
  }
  if (hooks_before == nullptr || !difference.hooks.empty()) hooks_->Replace(hooks);

  problems_.Tell(findings);
  // The first load touches nothing: no loop has asked yet.
  if (scripts_before == nullptr || difference.empty()) return;
  Publish(difference);
}

std::shared_ptr<const CustomizationSet> LiveInterpreter::Impl::ReadCustomizations(
    std::vector<ConfigurationProblems::Finding>& findings) {
  std::map<std::string, Parsed> before;
  before.swap(parsed_);
  std::vector<std::shared_ptr<const Customization>> all;
  std::vector<kube::ObjectPtr> objects;
  const auto informer = manager_.cluster().informers().Get(api::InterpreterCustomizations());
  for (const kube::ObjectPtr& object : informer->store().List()) {
    const std::string name(object->name());
    Parsed& parsed = parsed_[name];
    const auto known = before.find(name);
    if (known != before.end() && known->second.version == object->resource_version()) {
      parsed = std::move(known->second);
    } else {
      parsed = {std::string(object->resource_version()),
                std::make_shared<Customization>(customized::ParseCustomization(*object))};
    }
    all.push_back(parsed.customization);
    objects.push_back(object);
  }
  auto set = CustomizationSet::Merge(std::move(all));
  for (const kube::ObjectPtr& object : objects) {
    std::vector<std::string> texts;
    const auto found = set->problems().find(std::string(object->name()));
    if (found != set->problems().end()) {
      for (const customized::Problem& problem : found->second) texts.push_back(problem.ToString());
    }
    findings.push_back({object, std::move(texts)});
  }
  return set;
}

std::shared_ptr<const HookSet> LiveInterpreter::Impl::ReadHooks(
    std::vector<ConfigurationProblems::Finding>& findings) {
  std::vector<webhook::Hook> hooks;
  for (const kube::Resource* resource :
       {&api::InterpreterWebhookConfigurations(), &api::ExploringWebhookConfigurations()}) {
    const auto informer = manager_.cluster().informers().Find(*resource);
    if (informer == nullptr) continue;
    for (const kube::ObjectPtr& object : informer->store().List()) {
      webhook::Configuration read = webhook::ReadConfiguration(*object);
      for (webhook::Hook& hook : read.hooks) hooks.push_back(std::move(hook));
      findings.push_back({object, std::move(read.problems)});
    }
  }
  return std::make_shared<const HookSet>(std::move(hooks), Lookup());
}

void LiveInterpreter::Impl::Publish(const Difference& difference) {
  base::LogInfo("the interpreter's rules have changed", {{"scripts", difference.scripts.size()},
                                                         {"hooks", difference.hooks.size()},
                                                         {"resumed", difference.resumed.size()}});
  const webhook::ResourceLookup lookup = Lookup();
  chain_->rule_changes().Publish([&](const kube::Gvk& gvk, Operation op) {
    if (std::binary_search(difference.scripts.begin(), difference.scripts.end(),
                           customized::KindOperation{gvk, op})) {
      return true;
    }
    if (difference.resumed.count({gvk, op}) > 0) return true;
    for (const webhook::RuleDifference& hook : difference.hooks) {
      if (hook.operation == op && hook.kinds.Matches(gvk, lookup)) return true;
    }
    return false;
  });
}

void LiveInterpreter::Impl::BreakerMoved(const webhook::Hook& hook,
                                         const webhook::BreakerChange& change,
                                         const std::set<webhook::KindQuestion>& unanswered) {
  {
    absl::MutexLock lock(&mu_);
    (change.open ? suspended_ : news_) = true;
    resumed_.insert(unanswered.begin(), unanswered.end());
  }
  TellBreaker(manager_, hook, change);
}

LiveInterpreter::LiveInterpreter(kube::Manager& manager, const LiveOptions& options)
    : impl_(std::make_unique<Impl>(manager, options)) {}

LiveInterpreter::~LiveInterpreter() = default;

const Interpreter& LiveInterpreter::interpreter() const { return impl_->interpreter(); }

absl::Status LiveInterpreter::Load(const base::StopToken& stop) { return impl_->Load(stop); }

}  // namespace interpreter::live
