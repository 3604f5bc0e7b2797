// The layer of built-in handlers with answers in upstream's form.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/status.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/go_encoding.h"
#include "interpreter/native/pod_retention.h"
#include "interpreter/native/type_table.h"

namespace interpreter {

namespace {

using native::EmptyLists;
using native::EncodeAsGo;
using native::Type;
using native::TypeTable;

const Type* TypeOf(const kube::Object& object) {
  return TypeTable::Kubernetes().OfKind(object.api_version(), object.kind());
}

absl::StatusOr<kube::Object> Rewritten(const Type& type, const kube::Object& object) {
  ASSIGN_OR_RETURN(json::Value root, EncodeAsGo(type, object.root()));
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

absl::StatusOr<bool> HasOtherStatus(const Type& type, const kube::Object& before,
                                    kube::Object after) {
  AddFieldsThatUpstreamAlwaysWrites(after);
  ASSIGN_OR_RETURN(const json::Value old, EncodeAsGo(type, before.root(), EmptyLists::kKept));
  ASSIGN_OR_RETURN(const json::Value made, EncodeAsGo(type, after.root(), EmptyLists::kKept));
  return old["status"] != made["status"];
}

// Returns whether upstream finds that an aggregation changed something. If not, upstream returns
// the object as it came.
absl::StatusOr<bool> IsChanged(const Type& type, const kube::Object& before,
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

  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override {
    const bool is_pod = desired.gvk() == kube::Gvk{"", "v1", "Pod"};
    ASSIGN_OR_RETURN(kube::Object retained, is_pod ? native::RetainPodAsUpstream(desired, observed)
                                                   : native_->Retain(desired, observed));
    const Type* type = TypeOf(desired);
    if (type == nullptr) return retained;
    if (desired.kind() == "ServiceAccount") {
      for (const char* references : {"secrets", "imagePullSecrets"}) {
        if (retained.root()[references].empty()) retained.Set({references}, nullptr);
      }
    }
    if (!is_pod) return retained;
    RETURN_IF_ERROR(base::Annotate(EncodeAsGo(*type, observed.root()).status(), "observed"));
    return Rewritten(*type, retained);
  }

  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const override {
    ASSIGN_OR_RETURN(kube::Object aggregated, native_->AggregateStatus(object, items));
    const Type* type = TypeOf(object);
    if (type == nullptr) return aggregated;
    RETURN_IF_ERROR(EncodeAsGo(*type, object.root()).status());
    ASSIGN_OR_RETURN(const bool changed, IsChanged(*type, object, items, aggregated));
    if (!changed) return object;
    return Rewritten(*type, aggregated);
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
  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const override {
    return native_->GetReplicas(object);
  }
  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const override {
    return native_->GetComponents(object);
  }
  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                             int64_t replicas) const override {
    return native_->ReviseReplica(object, replicas);
  }
  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override {
    return native_->GetDependencies(object);
  }
  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override {
    return native_->ReflectStatus(object);
  }
  // To upstream no replica is held back.
  absl::StatusOr<Health> InterpretHealth(const kube::Object& object) const override {
    kube::Object seen = object;
    seen.Erase({"spec", "updateStrategy"});
    seen.Erase({"spec", "paused"});
    return native_->InterpretHealth(seen);
  }
  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const override {
    return native_->Prune(object);
  }

 private:
  const std::unique_ptr<Backend> native_;
};

}  // namespace

std::unique_ptr<Backend> NewUpstreamFormBackend(const base::Clock& clock) {
  return std::make_unique<UpstreamForm>(clock);
}

}  // namespace interpreter
