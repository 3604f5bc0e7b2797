// A question is answered in these steps: find the hook, ask through the monitor (which may refuse),
// encode, send, decode; then add the hook's name to an error, and pass on what may be ignored.

#include "interpreter/webhook/webhook_backend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "interpreter/webhook/failure.h"

namespace interpreter::webhook {

namespace {

// Returns the error with another code in place of kInvalidArgument, which means that the question
// fails until rule or object change. A hook that can be called may be repaired without either.
absl::Status AsRetriable(const absl::Status& why, const Hook& hook) {
  if (!absl::IsInvalidArgument(why) || !hook.unusable.ok()) return why;
  return WithReason(absl::InternalError(why.message()), ReasonOf(why));
}

// Returns the error that callers see. As upstream, the text of every error but that of a patch
// begins with "Internal error occurred".
absl::Status Named(const absl::Status& why, const Hook& hook) {
  const absl::Status error = AsRetriable(why, hook);
  if (ReasonOf(why) == FailureReason::kPatch) {
    return base::Annotate(error, "webhook \"", hook.uid, "\"");
  }
  return base::Annotate(error, "Internal error occurred: failed calling webhook \"", hook.uid,
                        "\"");
}

}  // namespace

WebhookBackend::WebhookBackend(WebhookBackendOptions options)
    : client_(std::make_unique<HookClient>(std::move(options.client), *options.clock)),
      monitor_(std::make_unique<HookMonitor>(
          std::move(options.monitor), *options.clock,
          [this](const Hook& hook, const Question& question, const base::StopToken* stop) {
            return AskHook(hook, question, stop).status();
          })) {}

void WebhookBackend::Replace(std::shared_ptr<const HookSet> hooks) {
  // First, so that a call of a new hook finds its state.
  monitor_->Track(*hooks);
  hooks_.Set(std::move(hooks));
}

bool WebhookBackend::Has(const kube::Gvk& gvk, Operation op) const {
  const std::shared_ptr<const HookSet> hooks = this->hooks();
  return hooks != nullptr && hooks->Find(gvk, op) != nullptr;
}

std::string WebhookBackend::RuleOf(const kube::Gvk& gvk, Operation op) const {
  const std::shared_ptr<const HookSet> hooks = this->hooks();
  const Hook* hook = hooks == nullptr ? nullptr : hooks->Find(gvk, op);
  return hook == nullptr ? "" : hook->uid;
}

absl::StatusOr<Answer> WebhookBackend::AskHook(const Hook& hook, const Question& question,
                                               const base::StopToken* stop) const {
  if (!hook.unusable.ok()) return WithReason(hook.unusable, FailureReason::kConfiguration);
  const Codec& codec = CodecOf(hook.dialect);
  const Call call{question, base::NewUuid()};
  const std::string request = codec.Encode(call);
  ASSIGN_OR_RETURN(const std::string body, stop == nullptr ? client_->Call(hook, request)
                                                           : client_->Call(hook, request, *stop));
  return codec.Decode(call, body);
}

absl::StatusOr<Answer> WebhookBackend::Ask(const Question& question) const {
  const std::shared_ptr<const HookSet> hooks = this->hooks();
  if (hooks == nullptr) return absl::UnavailableError("not yet ready to handle request");
  const Hook* hook = hooks->Find(question.object.gvk(), question.operation);
  if (hook == nullptr) {
    return PassOn(absl::NotFoundError("the webhook's rule was removed a moment ago"));
  }
  absl::StatusOr<Answer> answer =
      monitor_->Watch(*hook, question, [&] { return AskHook(*hook, question); });
  if (answer.ok()) return answer;
  const absl::Status error = Named(answer.status(), *hook);
  if (!hook->ignores_failures || ReasonOf(error) == FailureReason::kStopped) return error;
  // The layers below answer instead, and the hook is asked again later.
  monitor_->NoteIgnored(*hook, question);
  return PassOn(error);
}

}  // namespace interpreter::webhook
