#include "tests/advice/stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster.h"
#include "lens/why/chain_reader.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"

namespace tests::advice {
namespace {

// What controllers make again whenever they like.
const std::set<std::string>& Transient() {
  static const auto& kinds = *new std::set<std::string>{
      "Pod",   "ReplicaSet",      "Event", "Endpoints", "EndpointSlice", "ControllerRevision",
      "Lease", "ResourceBinding", "Work",
  };
  return kinds;
}

// Returns whether controllers put such an object into every namespace.
bool IsOfEachNamespace(const kube::Object& object) {
  return (object.kind() == "ServiceAccount" && object.name() == "default") ||
         (object.kind() == "ConfigMap" && object.name() == "kube-root-ca.crt");
}

absl::Status Annotated(const absl::Status& status, const std::string& what) {
  return {status.code(), absl::StrCat(what, ": ", status.message())};
}

}  // namespace

sandbox::ApiServer& Stage::server(const std::string& cluster) {
  if (cluster == "host") return plane_.fleet()->control_plane();
  sandbox::ApiServer* member = plane_.fleet()->member(cluster);
  INFO("member " << cluster);
  REQUIRE(member != nullptr);
  return *member;
}

void Stage::Discover() {
  auto discovery = kube::Discover(plane_.client("host"), {});
  REQUIRE(discovery.ok());
  discovery_ = *std::move(discovery);
}

Answer Stage::Why(const json::Value& ask, const Place& place) {
  lens::why::Question question;
  const auto gvk =
      kube::ParseGvk(ask["apiVersion"].AsString("apps/v1"), ask["kind"].AsString("Deployment"));
  REQUIRE(gvk.ok());
  question.gvk = *gvk;
  question.key = {ask["namespace"].ToString(place.ns), ask["name"].ToString("web")};
  question.cluster = ask["cluster"].ToString();
  const kube::ConnectionConfig no_proxy;
  const auto chain =
      lens::why::ReadChain({plane_.client("host"), discovery_, no_proxy}, question, {});
  if (!chain.ok()) return {std::string(chain.status().message())};
  const lens::why::Diagnosis diagnosis = lens::why::Diagnose(*chain);
  return {diagnosis.headline, diagnosis.advice, diagnosis.arrived};
}

absl::Status Stage::Apply(const std::string& cluster, const std::vector<kube::Object>& objects) {
  for (const kube::Object& object : objects) {
    absl::Status applied;
    // A kind is served a moment after its definition was created.
    plane_.Eventually(
        [&] {
          applied = plane_.TryApply(cluster, object);
          return applied.ok() || !absl::IsNotFound(applied);
        },
        absl::Seconds(20));
    if (!applied.ok()) return Annotated(applied, absl::StrCat(object.Describe(), " in ", cluster));
  }
  return absl::OkStatus();
}

std::vector<kube::Resource> Stage::Served(const std::string& cluster) {
  // A simulated server may be out of reach for clients.
  if (!is_real()) return server(cluster).backend().Resources();
  const auto discovery = kube::Discover(plane_.client(cluster), {});
  REQUIRE(discovery.ok());
  std::vector<kube::Resource> resources;
  for (const kube::ApiResource& served : discovery->resources) resources.push_back(served.resource);
  return resources;
}

std::pair<kube::Resource, kube::ObjectKey> Stage::Find(const std::string& cluster,
                                                       const std::string& object,
                                                       const std::string& ns) {
  const std::vector<std::string> words = absl::StrSplit(object, absl::MaxSplits(' ', 1));
  REQUIRE(words.size() == 2);
  std::vector<kube::Resource> resources = Served(cluster);
  // Each row may have a group of its own with kinds of the same names.
  std::stable_partition(resources.begin(), resources.end(), [&](const kube::Resource& resource) {
    return absl::StartsWith(resource.gvk.group, absl::StrCat(ns, "."));
  });
  for (const kube::Resource& resource : resources) {
    if (resource.gvk.kind != words[0]) continue;
    const size_t slash = words[1].find('/');
    if (slash == std::string::npos) return {resource, {resource.namespaced ? ns : "", words[1]}};
    return {resource, {words[1].substr(0, slash), words[1].substr(slash + 1)}};
  }
  FAIL(cluster << " does not serve the kind of " << object);
  return {};
}

std::string Stage::Do(const json::Value& steps, const Place& place) {
  for (const json::Value& step : steps.items()) {
    const absl::Status done = DoOne(step, place);
    if (!done.ok()) return absl::StrCat(json::Write(step), ": ", done.message());
  }
  return "";
}

absl::Status Stage::DoOne(const json::Value& step, const Place& place) {
  const std::string at = step["at"].ToString("host");
  if (step.Has("apply")) return Apply(at, InNamespace(step["apply"], place.ns));
  if (step.Has("patch")) {
    const auto [resource, key] = Find(at, step["patch"].ToString(), place.ns);
    return plane_.client(at)
        .Patch(resource, key, kube::PatchType::kMerge, step["with"],
               {.subresource = step["subresource"].ToString()}, {})
        .status();
  }
  if (step.Has("delete")) {
    const auto [resource, key] = Find(at, step["delete"].ToString(), place.ns);
    return plane_.client(at).Delete(resource, key, {.propagation = "Background"}, {}).status();
  }
  if (step.Has("gone")) {  // Waits until the object does not exist any more.
    const auto [resource, key] = Find(at, step["gone"].ToString(), place.ns);
    const bool gone = plane_.Eventually(
        [&, gvk = resource.gvk, key = key] { return !plane_.Exists(at, gvk, key); });
    return gone ? absl::OkStatus() : absl::InternalError("it is still there");
  }
  if (step.Has("await")) return AwaitLine(step["await"].ToString(), place);
  if (step.Has("served")) return AwaitKind(step["served"].ToString(), step["by"].ToString());
  if (step.Has("server")) return ChangeServer(step, at);
  if (step.Has("token")) return ChangeToken(step["token"].ToString(), at);
  if (step.Has("daemon")) {
    std::vector<std::string> flags;
    for (const json::Value& flag : step["flags"].items()) flags.push_back(flag.ToString());
    step["daemon"].AsString() == "stop" ? plane_.StopDaemon() : plane_.StartDaemon(flags);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the step is not known");
}

// Waits until the first line about Deployment web is this.
absl::Status Stage::AwaitLine(const std::string& line, const Place& place) {
  std::string last;
  const bool said = plane_.Eventually([&] {
    last = Why({}, place).headline;
    return IsText(last, line);
  });
  return said ? absl::OkStatus() : absl::InternalError(absl::StrCat("why says: ", last));
}

// Waits until the Cluster lists the kind ("group/version Kind") as served.
absl::Status Stage::AwaitKind(const std::string& kind, const std::string& member) {
  const std::vector<std::string> words = absl::StrSplit(kind, ' ');
  REQUIRE(words.size() == 2);
  const bool served = plane_.Eventually([&] {
    const auto cluster = plane_.Get("host", kCluster, {"", member});
    return cluster && api::ClusterView(*cluster).HasApi(kube::ParseGvk(words[0], words[1]).value());
  });
  return served ? absl::OkStatus() : absl::InternalError("it is not served");
}

absl::Status Stage::ChangeServer(const json::Value& step, const std::string& cluster) {
  sandbox::Faults& faults = server(cluster).faults();
  const std::string what = step["server"].ToString();
  if (what == "down" || what == "up") {
    faults.SetPartitioned(what == "down");
    return absl::OkStatus();
  }
  if (what == "mended") {
    faults.Clear();
    return absl::OkStatus();
  }
  REQUIRE(what == "refuses");
  constexpr int kAll = 1000000;
  faults.FailNext(kAll, static_cast<int>(step["code"].AsInt(403)), step["method"].ToString(),
                  step["path"].ToString(), step["reason"].ToString("Forbidden"),
                  step["message"].ToString());
  return absl::OkStatus();
}

absl::Status Stage::ChangeToken(const std::string& what, const std::string& member) {
  const std::string user = absl::StrCat("system:serviceaccount:karmada-cluster:karmada-", member);
  const auto cluster = plane_.Get("host", kCluster, {"", member});
  REQUIRE(cluster);
  const json::Value& reference = cluster->Get({"spec", "secretRef"});
  const kube::ObjectKey key{reference["namespace"].ToString(), reference["name"].ToString()};
  if (what == "restored") return Apply("host", {secrets_[member]});
  const auto secret = plane_.Get("host", kSecret, key);
  REQUIRE(secret);
  if (what == "lost") {
    secrets_[member] = kube::Object::Make(kSecret, key);
    secrets_[member].Set({"data"}, secret->Get({"data"}));
    plane_.Delete("host", kSecret, key);
    return absl::OkStatus();
  }
  std::string token;
  REQUIRE(absl::Base64Unescape(secret->Get({"data", "token"}).AsString(), &token));
  if (what == "expires") {
    server(member).RevokeToken(token);
    server(member).faults().DropWatches();
    return absl::OkStatus();
  }
  REQUIRE(what == "renewed");
  const std::string fresh = absl::StrCat(token, "-new");
  server(member).AddToken(fresh, user);
  plane_.Patch("host", kSecret, key,
               absl::StrCat(R"({"data":{"token":")", absl::Base64Escape(fresh), "\"}}"));
  return absl::OkStatus();
}

std::vector<kube::ObjectPtr> Stage::ListAll(const std::string& cluster,
                                            const kube::Resource& resource) {
  std::vector<kube::ObjectPtr> objects;
  if (!is_real()) {
    const auto listed = server(cluster).backend().List(resource.gvr(), "", {});
    return listed.ok() ? *listed : objects;  // The definition may have gone meanwhile.
  }
  const auto listed = plane_.client(cluster).ListAll(resource, "", {}, {});
  if (!listed.ok()) return objects;  // Some kinds cannot be listed.
  for (const kube::Object& object : listed->items) objects.push_back(kube::Share(object));
  return objects;
}

std::vector<Inventory> Stage::Take(const std::vector<Place>& places) {
  std::map<std::string, size_t> rows;
  std::set<std::string> clusters = {"host", "member1", "member2"};
  for (size_t i = 0; i < places.size(); ++i) {
    rows[places[i].ns] = i;
    if (!places[i].own.empty()) clusters.insert(places[i].own);
  }
  std::vector<Inventory> all(places.size());
  for (const std::string& cluster : clusters) {
    for (const kube::Resource& resource : Served(cluster)) {
      if (Transient().count(resource.gvk.kind) > 0) continue;
      const bool is_namespace = resource.gvk == kNamespace;
      if (!resource.namespaced && !is_namespace) continue;
      for (const kube::ObjectPtr& listed : ListAll(cluster, resource)) {
        const kube::Object& object = *listed;
        const auto row = rows.find(std::string(is_namespace ? object.name() : object.ns()));
        if (row == rows.end() || IsOfEachNamespace(object)) continue;
        const std::string& own = places[row->second].own;
        const bool is_others =
            cluster != "host" && cluster != "member1" && cluster != "member2" && cluster != own;
        if (is_others) continue;
        all[row->second][absl::StrCat(cluster, ": ", object.kind(), " ", object.name())] =
            std::string(object.uid());
      }
    }
  }
  return all;
}

}  // namespace tests::advice
