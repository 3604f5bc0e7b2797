#include "tests/support/fake_objects.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/meta/patch.h"
#include "kube/meta/selector.h"

namespace tests {
namespace {

kube::HttpResponse Success(int code, const kube::Object& object) {
  return {.code = code, .body = json::Write(object.root())};
}

}  // namespace

json::Value StatusBody(int code, const std::string& reason) {
  return json::Value::Object({{"apiVersion", "v1"},
                              {"kind", "Status"},
                              {"status", "Failure"},
                              {"code", code},
                              {"reason", reason},
                              {"message", absl::StrCat("fake: ", reason)}});
}

kube::HttpResponse Failure(int code, const std::string& reason) {
  return {.code = code, .body = json::Write(StatusBody(code, reason))};
}

// Returns the error for a missing object.
kube::HttpResponse Missing(const std::string& name) {
  json::Value status = StatusBody(404, "NotFound");
  status.Set({"details", "name"}, name);
  return {.code = 404, .body = json::Write(status)};
}

bool Selects(const RequestPath& path, const kube::Object& object) {
  const auto it = path.query.find("labelSelector");
  if (it == path.query.end()) return true;
  return kube::LabelSelector::Parse(it->second)->Matches(object.labels());
}

kube::Object FakeObjects::Put(const std::string& collection, kube::Object object) {
  kube::Object& held = collections_[collection][object.key()];
  const int64_t version = ++version_;
  object.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
  if (object.uid().empty()) {
    object.Set({"metadata", "uid"},
               held.empty() ? absl::StrCat("uid-", version) : std::string(held.uid()));
  }
  history_.push_back({collection, version, held, object});
  held = object;
  return object;
}

void FakeObjects::Erase(const std::string& collection, const kube::ObjectKey& key) {
  auto& objects = collections_[collection];
  const auto it = objects.find(key);
  if (it == objects.end()) return;
  history_.push_back({collection, ++version_, it->second, {}});
  objects.erase(it);
}

kube::Object FakeObjects::Find(const std::string& collection, const kube::ObjectKey& key) const {
  const auto objects = collections_.find(collection);
  if (objects == collections_.end()) return {};
  const auto it = objects->second.find(key);
  return it == objects->second.end() ? kube::Object() : it->second;
}

std::vector<kube::Object> FakeObjects::All(const std::string& collection) const {
  std::vector<kube::Object> all;
  const auto objects = collections_.find(collection);
  if (objects == collections_.end()) return all;
  for (const auto& [key, object] : objects->second) all.push_back(object);
  return all;
}

void FakeObjects::KeepStatus(const std::string& collection, Status where) {
  status_[collection] = where;
}

kube::HttpResponse FakeObjects::Answer(const std::string& method, const RequestPath& path,
                                       const std::string& body) {
  const json::Value sent = body.empty() ? json::Value() : *json::Parse(body);
  if (path.collection.empty()) return {.code = 200, .body = json::Write(discovery_)};
  if (method == "POST") return Create(path, kube::Object(sent));
  if (path.key.name.empty()) return List(path);
  const kube::Object held = Find(path.collection, path.key);
  if (held.empty()) return Missing(path.key.name);
  if (path.subresource == "scale") return Scale(path, held, method == "GET" ? json::Value() : sent);
  if (method == "GET") return Success(200, held);
  if (method == "DELETE") {
    const json::Value& wanted = sent["preconditions"];
    const bool is_other = (wanted.Has("uid") && wanted["uid"].AsString() != held.uid()) ||
                          (wanted.Has("resourceVersion") &&
                           wanted["resourceVersion"].AsString() != held.resource_version());
    return is_other ? Failure(409, "Conflict") : Delete(path, held);
  }
  if (method == "PUT") return Update(path, held, kube::Object(sent));
  const absl::StatusOr<json::Value> patched = sent.is_array()
                                                  ? kube::ApplyJsonPatch(held.root(), sent)
                                                  : kube::ApplyMergePatch(held.root(), sent);
  return patched.ok() ? Update(path, held, kube::Object(*patched)) : Failure(422, "Invalid");
}

kube::HttpResponse FakeObjects::Scale(const RequestPath& path, const kube::Object& held,
                                      const json::Value& patch) {
  if (held.kind() == "ConfigMap") return Missing(path.key.name);
  const absl::string_view version = patch.Get({"metadata", "resourceVersion"}).AsString();
  if (!version.empty() && version != held.resource_version()) return Failure(409, "Conflict");
  kube::Object object = held;
  if (patch.Get({"spec"}).Has("replicas")) {
    object.Set({"spec", "replicas"}, patch.Get({"spec", "replicas"}));
    object = Put(path.collection, std::move(object));
  }
  kube::Object scale = kube::Object::Make({"autoscaling", "v1", "Scale"}, path.key);
  scale.Set({"metadata", "resourceVersion"}, object.resource_version());
  scale.Set({"spec", "replicas"}, object.Get({"spec", "replicas"}).AsInt());
  scale.Set({"status", "replicas"}, object.Get({"status", "replicas"}).AsInt());
  const auto selector = kube::LabelSelector::FromJson(object.Get({"spec", "selector"}));
  if (selector.ok() && object.spec().Has("selector")) {
    scale.Set({"status", "selector"}, selector->ToString());
  }
  return Success(200, scale);
}

void FakeObjects::Serve(const std::vector<kube::Resource>& resources,
                        const std::vector<kube::Gvk>& stale) {
  json::Value groups = json::Value::Array();
  for (const kube::Gvk& gvk : stale) {
    const json::Value version =
        json::Value::Object({{"version", gvk.version}, {"freshness", "Stale"}});
    groups.Append(json::Value::Object({{"metadata", json::Value::Object({{"name", gvk.group}})},
                                       {"versions", json::Value::Array({version})}}));
  }
  for (const kube::Resource& r : resources) {
    const json::Value resource =
        json::Value::Object({{"resource", r.plural},
                             {"responseKind", json::Value::Object({{"kind", r.gvk.kind}})},
                             {"scope", r.namespaced ? "Namespaced" : "Cluster"},
                             {"verbs", json::Value::Array({"delete", "list", "watch"})}});
    const json::Value version = json::Value::Object(
        {{"version", r.gvk.version}, {"resources", json::Value::Array({resource})}});
    groups.Append(json::Value::Object({{"metadata", json::Value::Object({{"name", r.gvk.group}})},
                                       {"versions", json::Value::Array({version})}}));
  }
  discovery_ = json::Value::Object({{"kind", "APIGroupDiscoveryList"}, {"items", groups}});
}

kube::HttpResponse FakeObjects::Create(const RequestPath& path, kube::Object object) {
  if (collections_[path.collection].contains(object.key())) return Failure(409, "AlreadyExists");
  return Success(201, Put(path.collection, std::move(object)));
}

kube::HttpResponse FakeObjects::Update(const RequestPath& path, const kube::Object& held,
                                       kube::Object after) {
  if (after.resource_version() != held.resource_version()) return Failure(409, "Conflict");
  const auto status = status_.find(path.collection);
  const Status where = status == status_.end() ? Status::kSubresource : status->second;
  if (path.subresource == "status" && where != Status::kSubresource) {
    return Missing(path.key.name);
  }
  if (path.subresource.empty() && status != status_.end() && where != Status::kOnObject) {
    after.Set({"status"}, held.status());
    if (held.status().is_null()) after.Erase({"status"});
  }
  if (path.subresource == "status") {
    kube::Object whole = held;
    whole.Set({"status"}, after.status());
    after = whole;
  }
  return Success(200, after == held ? held : Put(path.collection, std::move(after)));
}

kube::HttpResponse FakeObjects::Delete(const RequestPath& path, kube::Object held) {
  if (held.metadata()["finalizers"].empty()) {
    Erase(path.collection, path.key);
    return {.code = 200, .body = json::Write(StatusBody(200, ""))};
  }
  held.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  return Success(200, Put(path.collection, std::move(held)));
}

kube::HttpResponse FakeObjects::List(const RequestPath& path) const {
  int64_t limit = 0;
  if (!absl::SimpleAtoi(path.Parameter("limit"), &limit)) limit = INT64_MAX;
  const std::string after = path.Parameter("continue");
  json::Value items = json::Value::Array();
  std::string next;
  for (const kube::Object& object : All(path.collection)) {
    if (!path.key.ns.empty() && object.ns() != path.key.ns) continue;
    if (!Selects(path, object)) continue;
    if (absl::StrCat(object.ns(), "/", object.name()) <= after) continue;
    if (static_cast<int64_t>(items.size()) == limit) {
      const kube::Object last(items.At(items.size() - 1));
      next = absl::StrCat(last.ns(), "/", last.name());
      break;
    }
    items.Append(object.root());
  }
  json::Value list = json::Value::Object({{"kind", "List"}, {"items", items}});
  list.Set({"metadata", "resourceVersion"}, absl::StrCat(version_));
  if (!next.empty()) list.Set({"metadata", "continue"}, next);
  return {.code = 200, .body = json::Write(list)};
}

}  // namespace tests
