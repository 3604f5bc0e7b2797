// A question is answered in these steps: find the hook, ask through the monitor (which may refuse),
// encode, send, decode, read the answer; then add the hook's name to an error, and pass on what may
// be ignored.
#include "interpreter/webhook/webhook_backend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "interpreter/webhook/failure.h"
#include "kube/meta/patch.h"

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

absl::StatusOr<kube::Object> Patched(const kube::Object& object, const Answer& answer) {
  if (!answer.new_status.is_null()) {
    kube::Object changed = object;
    changed.Set({"status"}, answer.new_status);
    return changed;
  }
  if (answer.patch.empty()) return object;
  auto root = kube::ApplyJsonPatch(object.root(), answer.patch);
  if (!root.ok()) return WithReason(root.status(), FailureReason::kPatch);
  if (!root->is_object() || (*root)["kind"].AsString().empty()) {
    return WithReason(absl::InternalError("the patch leaves no object with a kind"),
                      FailureReason::kPatch);
  }
  // An equal value means that nothing changes.
  return *root == object.root() ? object : kube::Object(*std::move(root));
}

}  // namespace

WebhookBackend::WebhookBackend(WebhookBackendOptions options)
    : client_(std::make_unique<HookClient>(std::move(options.client), *options.clock)),
      monitor_(std::make_unique<HookMonitor>(
          std::move(options.monitor), *options.clock,
          [this](const Hook& hook, Question question, const base::StopToken* stop) {
            // Each call has a uid of its own, by which its answer is recognized; also one that is
            // repeated.
            question.uid = base::NewUuid();
            return Call(hook, question, stop).status();
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

absl::StatusOr<Answer> WebhookBackend::Call(const Hook& hook, const Question& question,
                                            const base::StopToken* stop) const {
  if (!hook.unusable.ok()) return WithReason(hook.unusable, FailureReason::kConfiguration);
  const Codec& codec = CodecOf(hook.dialect);
  const std::string request = codec.Encode(question);
  ASSIGN_OR_RETURN(const std::string body, stop == nullptr ? client_->Call(hook, request)
                                                           : client_->Call(hook, request, *stop));
  return codec.Decode(question, body);
}

template <class Result>
absl::StatusOr<Result> WebhookBackend::Ask(
    Question question, const std::function<absl::StatusOr<Result>(Answer)>& read) const {
  const std::shared_ptr<const HookSet> hooks = this->hooks();
  if (hooks == nullptr) return absl::UnavailableError("not yet ready to handle request");
  const Hook* hook = hooks->Find(question.object.gvk(), question.operation);
  if (hook == nullptr) {
    return PassOn(absl::NotFoundError("the webhook's rule was removed a moment ago"));
  }
  question.uid = base::NewUuid();
  absl::StatusOr<Result> result = monitor_->Watch(*hook, question, [&]() -> absl::StatusOr<Result> {
    ASSIGN_OR_RETURN(Answer answer, Call(*hook, question));
    return read(std::move(answer));
  });
  if (result.ok()) return result;
  const absl::Status error = Named(result.status(), *hook);
  if (!hook->ignores_failures || ReasonOf(error) == FailureReason::kStopped) return error;
  // The layers below answer instead, and the hook is asked again later.
  monitor_->NoteIgnored(*hook, question);
  return PassOn(error);
}

absl::StatusOr<kube::Object> WebhookBackend::AskForObject(Question question) const {
  const kube::Object object = question.object;
  return Ask<kube::Object>(std::move(question),
                           [&](const Answer& answer) { return Patched(object, answer); });
}

absl::StatusOr<Replicas> WebhookBackend::GetReplicas(const kube::Object& object) const {
  return Ask<Replicas>({.operation = Operation::kInterpretReplica, .object = object},
                       [](Answer answer) { return std::move(answer.replicas); });
}

absl::StatusOr<json::Value> WebhookBackend::GetComponents(const kube::Object& object) const {
  return Ask<json::Value>({.operation = Operation::kInterpretComponent, .object = object},
                          [](Answer answer) { return std::move(answer.components); });
}

absl::StatusOr<kube::Object> WebhookBackend::ReviseReplica(const kube::Object& object,
                                                           int64_t replicas) const {
  return AskForObject(
      {.operation = Operation::kReviseReplica, .object = object, .replicas = replicas});
}

absl::StatusOr<kube::Object> WebhookBackend::Retain(const kube::Object& desired,
                                                    const kube::Object& observed) const {
  return AskForObject({.operation = Operation::kRetain, .object = desired, .observed = observed});
}

absl::StatusOr<kube::Object> WebhookBackend::AggregateStatus(const kube::Object& object,
                                                             const AggregatedItems& items) const {
  return AskForObject({.operation = Operation::kAggregateStatus, .object = object, .items = items});
}

absl::StatusOr<json::Value> WebhookBackend::GetDependencies(const kube::Object& object) const {
  return Ask<json::Value>({.operation = Operation::kInterpretDependency, .object = object},
                          [](Answer answer) { return std::move(answer.dependencies); });
}

absl::StatusOr<json::Value> WebhookBackend::ReflectStatus(const kube::Object& object) const {
  return Ask<json::Value>({.operation = Operation::kInterpretStatus, .object = object},
                          [](Answer answer) { return std::move(answer.status); });
}

absl::StatusOr<interpreter::Health> WebhookBackend::InterpretHealth(
    const kube::Object& object) const {
  return Ask<interpreter::Health>({.operation = Operation::kInterpretHealth, .object = object},
                                  [](Answer answer) { return std::move(answer.health); });
}

absl::StatusOr<kube::Object> WebhookBackend::Prune(const kube::Object& object) const {
  return AskForObject({.operation = Operation::kPrune, .object = object});
}

}  // namespace interpreter::webhook
