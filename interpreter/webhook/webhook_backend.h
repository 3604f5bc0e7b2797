// The webhook layer of the interpreter.
//
//   auto backend = std::make_unique<webhook::WebhookBackend>(std::move(options));
//   webhook::WebhookBackend& hooks = *backend;           // The chain owns it.
//   ...
//   hooks.Replace(std::make_shared<webhook::HookSet>(std::move(all_hooks), lookup));
#ifndef INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_
#define INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_

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
  // the kind of the hook's messages. The series of a hook that is gone are removed.
  // `monitor.on_breaker_change` is called by the thread whose call made the change, with no lock
  // held; it should not block.
  HookMonitorOptions monitor;
};

// Before the first Replace() the layer has no rules, so the chain does not ask it; a direct Ask
// fails with "not yet ready to handle request", as upstream. A failed call of a hook with
// failurePolicy Ignore, and a call whose rule disappeared after Has(), is passed on
// (interpreter.h). Thread-safe.
class WebhookBackend : public Backend {
 public:
  explicit WebhookBackend(WebhookBackendOptions options);

  // Replaces the set of hooks. Calls under way keep theirs. A hook that is equal in both sets keeps
  // the state of its breaker; connections stay as long as address, name and CA do.
  void Replace(std::shared_ptr<const HookSet> hooks);
  // Returns the present set; nullptr before the first Replace().
  std::shared_ptr<const HookSet> hooks() const { return hooks_.Get(); }

  // Suspended hooks are asked again by later calls, and by Probe(): it notices a hook that is back
  // even while all objects wait for the end of their back-off. See HookMonitor.
  base::SteadyTime NextProbe() const { return monitor_->NextProbe(); }
  void Probe(const base::StopToken& stop) { monitor_->Probe(stop); }

  // Must be called when a Service was added, deleted or changed: what hooks behind it did not
  // answer may be asked again.
  void ServiceChanged(const kube::ObjectKey& service) { monitor_->ServiceChanged(service); }

  absl::string_view layer() const override { return kWebhookLayer; }
  bool Has(const kube::Gvk& gvk, Operation op) const override;
  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override;
  absl::StatusOr<Answer> Ask(const Question& question) const override;
  bool ChecksDependencies() const override { return true; }

 private:
  // Makes one call of the hook, which `stop`, when given, ends.
  absl::StatusOr<Answer> AskHook(const Hook& hook, const Question& question,
                                 const base::StopToken* stop = nullptr) const;

  const std::unique_ptr<HookClient> client_;
  const std::unique_ptr<HookMonitor> monitor_;
  base::Snapshot<HookSet> hooks_;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_WEBHOOK_BACKEND_H_
