// The webhook layer of the interpreter.
//
//   auto backend = std::make_unique<webhook::WebhookBackend>(std::move(options));
//   webhook::WebhookBackend& hooks = *backend;           // The chain owns it.
//   ...
//   hooks.Replace(std::make_shared<webhook::HookSet>(std::move(all_hooks), lookup));
#ifndef INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_
#define INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/snapshot.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/codec.h"
#include "interpreter/webhook/hook_client.h"
#include "interpreter/webhook/hook_monitor.h"
#include "interpreter/webhook/hook_set.h"

namespace interpreter::webhook {

struct WebhookBackendOptions {
  HookClientOptions client;
  // Must outlive the back end.
  const base::Clock* clock = &base::RealClock();
  // `monitor.metrics`, when given, must outlive the back end. Series:
  // karmada_interpreter_webhook_duration_seconds{dialect,hook,operation,result},
  // karmada_interpreter_webhook_failures_total{dialect,hook,reason} and
  // karmada_interpreter_webhook_open{dialect,hook} (1 while calls are suspended); the dialect is
  // the kind of the hook's messages. Those of a hook that goes away go with it.
  // `monitor.on_breaker_change` is called by the thread whose call made the
  // change, with no lock held; it should not block.
  HookMonitorOptions monitor;
};

// Before the first Replace() it has no rules, and calls fail with "not yet ready to handle
// request", as upstream. A failed call of a hook that ignores failures, and a call whose rule went
// away since Has(), is passed on (interpreter.h). Thread-safe.
class WebhookBackend : public Backend {
 public:
  explicit WebhookBackend(WebhookBackendOptions options);

  // Swaps in the hooks of a new configuration. Calls under way end as they began. A hook that is
  // equal in both sets keeps the state of its breaker; connections stay as long as address, name
  // and CA do.
  void Replace(std::shared_ptr<const HookSet> hooks);
  // The present set; nullptr before the first Replace().
  std::shared_ptr<const HookSet> hooks() const { return hooks_.Get(); }

  // Suspended hooks are asked again by the calls that come, and by whoever calls Probe(): then a
  // hook that is back is noticed though all objects wait out their back-off. See HookMonitor.
  base::SteadyTime NextProbe() const { return monitor_->NextProbe(); }
  void Probe(const base::StopToken& stop) { monitor_->Probe(stop); }

  // A Service has appeared, gone or changed: what waits for hooks behind it may be asked again.
  void ServiceChanged(const kube::ObjectKey& service) { monitor_->ServiceChanged(service); }

  absl::string_view layer() const override { return kWebhookLayer; }
  bool Has(const kube::Gvk& gvk, Operation op) const override;
  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override;
  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const override;
  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const override;
  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                             int64_t replicas) const override;
  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override;
  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const override;
  bool ChecksDependencies() const override { return true; }
  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override;
  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override;
  absl::StatusOr<bool> InterpretHealth(const kube::Object& object) const override;
  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const override;

 private:
  // What `read` makes of the answer.
  template <class Result>
  absl::StatusOr<Result> Ask(Question question,
                             const std::function<absl::StatusOr<Result>(Answer)>& read) const;
  absl::StatusOr<Answer> Call(const Hook& hook, const Question& question,
                              const base::StopToken* stop = nullptr) const;
  absl::StatusOr<kube::Object> AskForObject(Question question) const;

  const std::unique_ptr<HookClient> client_;
  const std::unique_ptr<HookMonitor> monitor_;
  base::Snapshot<HookSet> hooks_;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_
