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

// What controllers make anew whenever they like.
const std::set<std::string>& Transient() {
  static const auto& kinds = *new std::set<std::string>{
      "Pod",   "ReplicaSet",      "Event", "Endpoints", "EndpointSlice", "ControllerRevision",
      "Lease", "ResourceBinding", "Work",
  };
  return kinds;
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

std::pair<kube::Resource, kube::ObjectKey> Stage::Find(const std::string& cluster,
                                                       const std::string& object,
                                                       const std::string& ns) {
  const std::vector<std::string> words = absl::StrSplit(object, absl::MaxSplits(' ', 1));
  REQUIRE(words.size() == 2);
  std::vector<kube::Resource> resources = server(cluster).backend().Resources();
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
  if (step.Has("served")) return AwaitKind(step["served"].ToString(), step["by"].ToString());
  if (step.Has("server")) return ChangeServer(step, at);
  if (step.Has("token")) return ChangeToken(step["token"].ToString(), at);
  if (step.Has("daemon")) {
    step["daemon"].AsString() == "stop" ? plane_.StopDaemon() : plane_.StartDaemon();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the step is not known");
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

Inventory Stage::Take(const Place& place) {
  Inventory all;
  std::vector<std::string> clusters = {"host", "member1", "member2"};
  if (!place.own.empty()) clusters.push_back(place.own);
  for (const std::string& cluster : clusters) {
    sandbox::Backend& backend = server(cluster).backend();
    for (const kube::Resource& resource : backend.Resources()) {
      if (Transient().count(resource.gvk.kind) > 0) continue;
      const bool is_namespace = resource.gvk == kNamespace;
      if (!resource.namespaced && !is_namespace) continue;
      const auto listed = backend.List(resource.gvr(), is_namespace ? "" : place.ns, {});
      if (!listed.ok()) continue;  // The definition has gone meanwhile.
      for (const kube::ObjectPtr& object : *listed) {
        if (is_namespace && object->name() != place.ns) continue;
        all[absl::StrCat(cluster, ": ", object->kind(), " ", object->name())] =
            std::string(object->uid());
      }
    }
  }
  return all;
}

}  // namespace tests::advice
