// The layer of built-in handlers with answers in upstream's form.

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/status.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/pod_retention.h"
#include "kube/schema/typed_value.h"

namespace interpreter {

namespace {

using kube::schema::Struct;
using kube::schema::TypedForm;
using kube::schema::TypedValue;

constexpr TypedForm kWritten = {.fields = TypedForm::Fields::kFull};
// Equal exactly when upstream takes the objects for equal.
constexpr TypedForm kCompared = {.fields = TypedForm::Fields::kFull, .keeps_empty_lists = true};

const Struct* TypeOf(const kube::Object& object) { return kube::schema::FindKind(object.gvk()); }

absl::StatusOr<kube::Object> Rewritten(const Struct& type, const kube::Object& object) {
  ASSIGN_OR_RETURN(json::Value root, TypedValue(type, object.root(), kWritten));
  return kube::Object(std::move(root));
}

// Adds members that upstream's new status always has, even when they are empty: to upstream, an
// absent list and an empty one differ.
void AddFieldsThatUpstreamAlwaysWrites(kube::Object& object) {
  const auto add = [&object](json::Path path, const json::Value& empty) {
    if (object.Get(path).is_null()) object.Set(path, empty);
  };
  const absl::string_view kind = object.kind();
  if (kind == "Pod") add({"status", "containerStatuses"}, json::Value::Array());
  if (kind == "PodDisruptionBudget") add({"status", "disruptedPods"}, json::Value::Object());
  if (kind == "Service" || kind == "Ingress") {
    add({"status", "loadBalancer", "ingress"}, json::Value::Array());
  }
}

absl::StatusOr<bool> HasOtherStatus(const Struct& type, const kube::Object& before,
                                    kube::Object after) {
  AddFieldsThatUpstreamAlwaysWrites(after);
  ASSIGN_OR_RETURN(const json::Value old, TypedValue(type, before.root(), kCompared));
  ASSIGN_OR_RETURN(const json::Value made, TypedValue(type, after.root(), kCompared));
  return old["status"] != made["status"];
}

// Returns whether upstream finds that an aggregation changed something. If not, upstream returns
// the object as it came.
absl::StatusOr<bool> IsChanged(const Struct& type, const kube::Object& before,
                               const AggregatedItems& items, const kube::Object& after) {
  const absl::string_view kind = before.kind();
  const bool written = !after.root().SharesWith(before.root());
  if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet") return written;
  if (kind == "DaemonSet") {
    // Upstream compares with a status that holds only the sums, although it keeps the other
    // members.
    return written || !before.status()["conditions"].empty() ||
           !before.status()["collisionCount"].is_null();
  }
  if (kind == "Pod" && items.is_null()) return true;
  if (kind == "Service" && before.spec()["type"].AsString() != "LoadBalancer") return false;
  return HasOtherStatus(type, before, after);
}

// Rewrites the answers that upstream rewrites; the built-in handlers' other answers stay.
class UpstreamForm : public Backend {
 public:
  explicit UpstreamForm(const base::Clock& clock) : native_(NewNativeBackend(clock)) {}

  absl::StatusOr<Answer> Ask(const Question& question) const override {
    switch (question.operation) {
      case Operation::kRetain:
        return Retained(question);
      case Operation::kAggregateStatus:
        return Aggregated(question);
      case Operation::kInterpretHealth:
        return HealthWithNothingHeldBack(question);
      default:
        return native_->Ask(question);
    }
  }

  absl::string_view layer() const override { return native_->layer(); }
  // Of some kinds upstream retains nothing.
  bool Has(const kube::Gvk& gvk, Operation op) const override {
    constexpr absl::string_view kOurs[] = {"DaemonSet",
                                           "Ingress",
                                           "ReplicaSet",
                                           "StatefulSet",
                                           "ClusterRole",
                                           "CustomResourceDefinition",
                                           "APIService",
                                           "MutatingWebhookConfiguration",
                                           "ValidatingWebhookConfiguration"};
    const bool is_ours = std::find(std::begin(kOurs), std::end(kOurs), gvk.kind) != std::end(kOurs);
    return native_->Has(gvk, op) && !(op == Operation::kRetain && is_ours);
  }
  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override {
    return native_->RuleOf(gvk, op);
  }

 private:
  absl::StatusOr<kube::Object> Retained(const Question& question) const {
    const kube::Object& desired = question.object;
    const kube::Object& observed = question.observed;
    const bool is_pod = desired.gvk() == kube::Gvk{"", "v1", "Pod"};
    ASSIGN_OR_RETURN(kube::Object retained, is_pod ? native::RetainPodAsUpstream(desired, observed)
                                                   : native_->Retain(desired, observed));
    const Struct* type = TypeOf(desired);
    if (type == nullptr) return retained;
    if (desired.kind() == "ServiceAccount") {
      for (const char* references : {"secrets", "imagePullSecrets"}) {
        if (retained.root()[references].empty()) retained.Set({references}, nullptr);
      }
    }
    if (!is_pod) return retained;
    RETURN_IF_ERROR(
        base::Annotate(TypedValue(*type, observed.root(), kWritten).status(), "observed"));
    return Rewritten(*type, retained);
  }

  absl::StatusOr<kube::Object> Aggregated(const Question& question) const {
    const kube::Object& object = question.object;
    ASSIGN_OR_RETURN(kube::Object aggregated, native_->AggregateStatus(object, question.items));
    const Struct* type = TypeOf(object);
    if (type == nullptr) return aggregated;
    RETURN_IF_ERROR(TypedValue(*type, object.root(), kWritten).status());
    ASSIGN_OR_RETURN(const bool changed, IsChanged(*type, object, question.items, aggregated));
    if (!changed) return object;
    return Rewritten(*type, aggregated);
  }

  // To upstream no replica is held back.
  absl::StatusOr<Answer> HealthWithNothingHeldBack(Question question) const {
    question.object.Erase({"spec", "updateStrategy"});
    question.object.Erase({"spec", "paused"});
    return native_->Ask(question);
  }

  const std::unique_ptr<Backend> native_;
};

}  // namespace

std::unique_ptr<Backend> NewUpstreamFormBackend(const base::Clock& clock) {
  return std::make_unique<UpstreamForm>(clock);
}

}  // namespace interpreter
