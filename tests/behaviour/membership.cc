#include "tests/behaviour/membership.h"

#include <atomic>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"

namespace tests {
namespace {

kube::Object ClusterOf(ControlPlane& plane, const std::string& member) {
  const auto cluster = plane.Get("host", kCluster, {"", member});
  REQUIRE(cluster);
  return *cluster;
}

kube::ObjectKey SecretOf(const kube::Object& cluster, const char* field) {
  const json::Value& reference = cluster.Get({"spec", field});
  return {reference["namespace"].ToString(), reference["name"].ToString()};
}

}  // namespace

void RotateToken(ControlPlane& plane, const std::string& member) {
  static std::atomic<int> tokens{0};
  const kube::ObjectKey key = SecretOf(ClusterOf(plane, member), "secretRef");
  const auto secret = plane.Get("host", kSecret, key);
  REQUIRE(secret);
  std::string old;
  REQUIRE(absl::Base64Unescape(secret->Get({"data", "token"}).AsString(), &old));
  sandbox::ApiServer& server = *plane.fleet()->member(member);
  const std::string token = absl::StrCat("rotated-", ++tokens);
  server.AddToken(token, absl::StrCat("system:serviceaccount:karmada-cluster:karmada-", member));
  plane.Patch("host", kSecret, key,
              absl::StrCat(R"({"data":{"token":")", absl::Base64Escape(token), "\"}}"));
  server.RevokeToken(old);
  server.faults().DropWatches();
}

kube::Object CredentialsOf(ControlPlane& plane, const std::string& member) {
  const auto secret = plane.Get("host", kSecret, SecretOf(ClusterOf(plane, member), "secretRef"));
  REQUIRE(secret);
  kube::Object fresh = kube::Object::Make(kSecret, secret->key());
  fresh.Set({"data"}, secret->Get({"data"}));
  return fresh;
}

int PortOf(ControlPlane& plane, const std::string& member) {
  const std::string url = plane.fleet()->member(member)->url();
  int port = 0;
  REQUIRE(absl::SimpleAtoi(url.substr(url.rfind(':') + 1), &port));
  return port;
}

void MoveEndpoint(ControlPlane& plane, const std::string& member, const std::string& url) {
  plane.Patch("host", kCluster, {"", member},
              absl::StrCat(R"({"spec":{"apiEndpoint":")", url, "\"}}"));
}

kube::Object Leave(ControlPlane& plane, const std::string& member) {
  const kube::Object cluster = ClusterOf(plane, member);
  for (const char* field : {"secretRef", "impersonatorSecretRef"}) {
    plane.Patch("host", kSecret, SecretOf(cluster, field),
                R"({"metadata":{"ownerReferences":null}})");
  }
  plane.Delete("host", kCluster, {"", member});
  kube::Object again = kube::Object::Make(kCluster, {"", member});
  again.Set({"spec"}, cluster.spec());
  again.Erase({"spec", "taints"});
  return again;
}

absl::Status Join(ControlPlane& plane, const kube::Object& cluster) {
  return plane.TryApply("host", cluster);
}

}  // namespace tests
