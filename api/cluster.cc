#include "api/cluster.h"

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "api/known_fields.h"

namespace api {

Taint Taint::FromJson(const json::Value& item) {
  return {item["key"].ToString(), item["value"].ToString(), item["effect"].ToString(),
          item["timeAdded"].ToString()};
}

json::Value Taint::ToJson() const {
  json::Value out = json::Value::Object({{"key", key}, {"effect", effect}});
  if (!value.empty()) out.Set("value", value);
  if (!time_added.empty()) out.Set("timeAdded", time_added);
  return out;
}

namespace {

kube::ObjectKey KeyOf(const json::Value& reference) {
  return {reference["namespace"].ToString(), reference["name"].ToString()};
}

}  // namespace

kube::ObjectKey ClusterView::SecretRef() const { return KeyOf(spec()["secretRef"]); }

kube::ObjectKey ClusterView::ImpersonatorSecretRef() const {
  return KeyOf(spec()["impersonatorSecretRef"]);
}

std::map<std::string, std::string> ClusterView::ProxyHeader() const {
  std::map<std::string, std::string> headers;
  for (const json::Member& member : spec()["proxyHeader"].members()) {
    headers[std::string(member.name())] = member.value.ToString();
  }
  return headers;
}

std::vector<std::string> ClusterView::Zones() const {
  std::vector<std::string> zones;
  for (const json::Value& zone : spec()["zones"].items()) zones.push_back(zone.ToString());
  const absl::string_view zone = spec()["zone"].AsString();
  if (zones.empty() && !zone.empty()) zones.emplace_back(zone);
  return zones;
}

std::vector<Taint> ClusterView::Taints() const {
  std::vector<Taint> taints;
  for (const json::Value& item : spec()["taints"].items()) taints.push_back(Taint::FromJson(item));
  return taints;
}

bool ClusterView::IsReady() const { return kube::IsConditionTrue(Conditions(), kClusterReady); }

absl::string_view ClusterView::ReadyStatus() const {
  const json::Value* ready = kube::FindCondition(Conditions(), kClusterReady);
  return ready == nullptr ? absl::string_view() : (*ready)["status"].AsString();
}

bool ClusterView::HasApi(const kube::Gvk& gvk) const {
  const std::string group_version = gvk.ApiVersion();
  for (const json::Value& enablement : object_.status()["apiEnablements"].items()) {
    if (enablement["groupVersion"].AsString() != group_version) continue;
    const auto resources = enablement["resources"].items();
    return std::any_of(resources.begin(), resources.end(), [&](const json::Value& resource) {
      return resource["kind"].AsString() == gvk.kind;
    });
  }
  return false;
}

void SetTaints(kube::Object& cluster, absl::Span<const Taint> taints) {
  if (taints.empty()) {
    cluster.Erase({"spec", "taints"});
    return;
  }
  static const auto& field =
      *new KnownField{"taints", {{"key"}, {"value"}, {"effect"}, {"timeAdded"}}, {"key", "effect"}};
  json::Value list = json::Value::Array();
  for (const Taint& taint : taints) list.Append(taint.ToJson());
  const json::Value held = cluster.spec()["taints"];
  cluster.Set({"spec", "taints"}, WithUnknown(std::move(list), held, field));
}

}  // namespace api
