#include "sandbox/kinds/scale.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/meta/selector.h"

namespace sandbox {
namespace {

const json::Value& At(const kube::Object& object, const std::string& path) {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '.');
  return object.root().Get(names);
}

// Returns the text for status.selector of a Scale.
std::string SelectorText(const ScalePaths& paths, const kube::Object& object) {
  if (paths.selector.empty()) return "";
  const json::Value& selector = At(object, paths.selector);
  if (selector.is_string()) return selector.ToString();
  // A ReplicationController's selector is a plain map.
  const bool plain = !selector.Has("matchLabels") && !selector.Has("matchExpressions");
  const json::Value full = plain ? json::Value::Object({{"matchLabels", selector}}) : selector;
  const auto parsed = kube::LabelSelector::FromJson(full);
  return parsed.ok() ? parsed->ToString() : "";
}

}  // namespace

const kube::Gvk& ScaleKind() {
  static const auto* const kind = new kube::Gvk{"autoscaling", "v1", "Scale"};
  return *kind;
}

kube::Object ScaleOf(const ResourceInfo& info, const kube::Object& object) {
  kube::Object scale = kube::Object::Make(ScaleKind(), object.key());
  for (absl::string_view field : {"uid", "resourceVersion", "creationTimestamp"}) {
    if (object.metadata().Has(field)) scale.Set({"metadata", field}, object.metadata()[field]);
  }
  const ScalePaths& paths = *info.scale;
  scale.Set({"spec"}, json::Value::Object());
  const int64_t wanted = At(object, paths.spec_replicas).AsInt();
  if (wanted != 0) scale.Set({"spec", "replicas"}, wanted);
  scale.Set({"status", "replicas"}, At(object, paths.status_replicas).AsInt());
  const std::string selector = SelectorText(paths, object);
  if (!selector.empty()) scale.Set({"status", "selector"}, selector);
  return scale;
}

absl::StatusOr<kube::Object> WithScale(const ResourceInfo& info, const kube::Object& object,
                                       const kube::Object& scale) {
  if (scale.gvk() != ScaleKind() && !scale.kind().empty()) {
    return BadRequest(absl::StrCat("expected a Scale of autoscaling/v1, got ", scale.kind(), " of ",
                                   scale.api_version()));
  }
  if (!scale.resource_version().empty() && scale.resource_version() != object.resource_version()) {
    return StaleWrite(info.name(), object.name());
  }
  const json::Value& replicas = scale.spec()["replicas"];
  if (!replicas.is_null() && !replicas.is_int()) {
    return BadRequest("json: cannot unmarshal spec.replicas of the Scale into int32");
  }
  if (replicas.AsInt() < 0) {
    FieldErrors errors;
    errors.Invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    return errors.ToStatus({"autoscaling", "Scale"}, object.name());
  }
  kube::Object out = object;
  const std::vector<absl::string_view> path = absl::StrSplit(info.scale->spec_replicas, '.');
  out.mutable_root().Set(json::Path(path), replicas.AsInt());
  return out;
}

}  // namespace sandbox
