#include "interpreter/live/breaker_events.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/runtime/events.h"

namespace interpreter::live {

namespace {

kube::ObjectPtr ConfigurationOf(kube::Manager& manager, const webhook::Hook& hook) {
  const kube::Resource& resource = hook.dialect == webhook::Dialect::kExploreReview
                                       ? api::ExploringWebhookConfigurations()
                                       : api::InterpreterWebhookConfigurations();
  const auto informer = manager.cluster().informers().Find(resource);
  return informer == nullptr ? nullptr : informer->store().Find({"", hook.configuration});
}

std::string TextFor(const webhook::Hook& hook, const webhook::BreakerChange& change) {
  const std::string since = kube::FormatTime(change.since);
  if (change.open) {
    return absl::StrCat("calls of webhook ", hook.uid, " are suspended, it has failed since ",
                        since, ": ", change.reason);
  }
  if (change.abandoned) {
    return absl::StrCat("webhook ", hook.uid, " was changed at ", kube::FormatTime(change.at),
                        " and is called again, it had failed since ", since);
  }
  return absl::StrCat("webhook ", hook.uid, " answers again at ", kube::FormatTime(change.at),
                      ", it had failed since ", since);
}

}  // namespace

void ReportBreakerChange(kube::Manager& manager, const webhook::Hook& hook,
                         const webhook::BreakerChange& change) {
  base::LogWarning(change.open        ? "calls of a webhook are suspended"
                   : change.abandoned ? "a webhook was changed and is called again"
                                      : "a webhook answers again",
                   {{"hook", hook.uid}, {"reason", change.reason}});
  const kube::ObjectPtr object = ConfigurationOf(manager, hook);
  if (object == nullptr) return;
  manager.events().Record(
      api::kInterpreterSource, kube::InvolvedObject::Of(*object),
      change.open ? kube::EventType::kWarning : kube::EventType::kNormal,
      change.open ? api::reason::kWebhookSuspended : api::reason::kWebhookResumed,
      TextFor(hook, change));
}

}  // namespace interpreter::live
