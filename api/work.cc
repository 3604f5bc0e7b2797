#include "api/work.h"

#include <utility>

#include "api/keys.h"

namespace api {

ManifestIdentifier ManifestIdentifier::Of(const kube::Object& manifest, int64_t ordinal) {
  kube::Gvk gvk = manifest.gvk();
  return {ordinal,
          std::move(gvk.group),
          std::move(gvk.version),
          std::move(gvk.kind),
          std::string(manifest.ns()),
          std::string(manifest.name())};
}

ManifestIdentifier ManifestIdentifier::FromJson(const json::Value& identifier) {
  return {identifier["ordinal"].AsInt(),      identifier["group"].ToString(),
          identifier["version"].ToString(),   identifier["kind"].ToString(),
          identifier["namespace"].ToString(), identifier["name"].ToString()};
}

json::Value ManifestIdentifier::ToJson() const {
  json::Value out = json::Value::Object({{"ordinal", ordinal},
                                         {"version", version},
                                         {"kind", kind},
                                         {"resource", ""},
                                         {"name", name}});
  if (!group.empty()) out.Set("group", group);
  if (!ns.empty()) out.Set("namespace", ns);
  return out;
}

ManifestStatus ManifestStatus::FromJson(const json::Value& item) {
  return {ManifestIdentifier::FromJson(item["identifier"]), item["status"],
          item["health"].ToString()};
}

json::Value ManifestStatus::ToJson() const {
  json::Value out = json::Value::Object({{"identifier", identifier.ToJson()}});
  if (!status.is_null()) out.Set("status", status);
  if (!health.empty()) out.Set("health", health);
  return out;
}

absl::Span<const json::Value> WorkView::Manifests() const {
  return object_.Get({"spec", "workload", "manifests"}).items();
}

std::optional<int64_t> WorkView::IndexOf(const kube::Object& object) const {
  const absl::Span<const json::Value> manifests = Manifests();
  for (size_t i = 0; i < manifests.size(); ++i) {
    const kube::Object manifest(manifests[i]);
    if (manifest.name() == object.name() && manifest.kind() == object.kind() &&
        manifest.ns() == object.ns() && manifest.api_version() == object.api_version()) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

bool WorkView::IsApplied() const { return kube::IsConditionTrue(Conditions(), kWorkApplied); }

std::vector<ManifestStatus> WorkView::ManifestStatuses() const {
  std::vector<ManifestStatus> out;
  for (const json::Value& item : object_.status()["manifestStatuses"].items()) {
    out.push_back(ManifestStatus::FromJson(item));
  }
  return out;
}

}  // namespace api
