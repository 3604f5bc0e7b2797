// One process serves the clusters of Secrets, and follows them.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "tests/agents/hosted.h"
#include "tests/support/free_port.h"

namespace tests {

TEST_CASE("a process serves the clusters of Secrets, and follows them while it runs") {
  Hosted hosted(2);
  const std::string first = hosted.clusters()[0], second = hosted.clusters()[1];
  hosted.PutSecret(first);
  const auto agents = hosted.Start("agents");
  REQUIRE(hosted.Eventually([&] { return hosted.IsReady(first); }));
  hosted.PutWork(first, "one");
  CHECK(hosted.Eventually([&] { return hosted.Has(first, "one"); }));

  hosted.PutSecret(second);
  CHECK(hosted.Eventually([&] { return hosted.IsReady(second); }));
  hosted.RemoveSecret(first);
  REQUIRE(hosted.Eventually([&] {
    return absl::StrContains(hosted.Log("agents"),
                             "the agent of a cluster has stopped cluster=" + first);
  }));
  hosted.PutWork(first, "two");
  hosted.PutWork(second, "two");
  CHECK(hosted.Eventually([&] { return hosted.Has(second, "two"); }));
  CHECK_FALSE(hosted.Has(first, "two"));
  hosted.PutSecret(first);
  CHECK(hosted.Eventually([&] { return hosted.Has(first, "two"); }));
  CHECK(agents->Stop() == 0);
}

TEST_CASE("a process of many clusters serves its profiles") {
  Hosted hosted(1);
  const std::string address = absl::StrCat("127.0.0.1:", FreePort());
  const auto agents =
      hosted.Start("agents", {"--enable-pprof", "--profiling-bind-address=" + address});
  kube::ConnectionConfig config;
  config.server = "http://" + address;
  const auto transport = kube::NewHttpTransport(config);
  REQUIRE(transport.ok());
  kube::HttpRequest request{.method = "GET", .path = "/debug/pprof/cmdline"};
  REQUIRE(hosted.Eventually([&] {
    const auto answer = (*transport)->Send(request, {});
    return answer.ok() && absl::StrContains(answer->body, "--enable-pprof");
  }));
  // Where tcmalloc is missing it says so.
  request.path = "/debug/pprof/heap";
  const auto heap = (*transport)->Send(request, {});
  REQUIRE(heap.ok());
  INFO(heap->body);
  CHECK((heap->code == 200 ? absl::StartsWith(heap->body, "heap profile:") : heap->code == 501));
  CHECK(agents->Stop() == 0);

  // No interface of this machine has it (RFC 5737).
  const std::string elsewhere = "--profiling-bind-address=192.0.2.1:1";
  const auto second = hosted.Start("second", {"--enable-pprof", elsewhere});
  CHECK(
      hosted.Eventually([&] { return absl::StrContains(hosted.Log("second"), elsewhere + ": "); }));
}

TEST_CASE("a Secret that cannot be used is named, without its content, and the others are served") {
  Hosted hosted(2);
  const std::string broken = hosted.clusters()[0], good = hosted.clusters()[1];
  hosted.PutSecret(broken, "the s3cret of a user");
  hosted.PutSecret(good);
  const auto agents = hosted.Start("agents");
  CHECK(hosted.Eventually([&] { return hosted.IsReady(good); }));
  CHECK(hosted.Eventually(
      [&] { return absl::StrContains(hosted.Log("agents"), "begins again cluster=" + broken); }));
  CHECK_FALSE(absl::StrContains(hosted.Log("agents"), "s3cret"));
  hosted.PutSecret(broken);
  CHECK(hosted.Eventually([&] { return hosted.IsReady(broken); }));
}

TEST_CASE("a Secret that is not usable from the beginning is named, and so is that there is none") {
  Hosted hosted(1);
  const std::string cluster = hosted.clusters()[0];
  hosted.PutSecret(cluster);
  hosted.BreakSecret(cluster);
  const auto agents = hosted.Start("agents");
  const auto says = [&](const std::string& words) {
    return hosted.Eventually([&] { return absl::StrContains(hosted.Log("agents"), words); });
  };
  CHECK(says("the kubeconfigs of a cluster cannot be used cluster=" + cluster));
  hosted.RemoveSecret(cluster);
  CHECK(says("no Secret has the labels"));
}

TEST_CASE("of two processes that do not share, one serves all clusters, and the other takes over") {
  Hosted hosted(2);
  hosted.PutSecrets();
  auto first = hosted.Start("first");
  REQUIRE(hosted.Eventually([&] { return hosted.AllReady(); }));
  const auto second = hosted.Start("second");
  CHECK(hosted.Eventually(
      [&] { return absl::StrContains(hosted.Log("second"), "another process leads"); }));
  CHECK_FALSE(absl::StrContains(hosted.Log("second"), "the agent of a cluster begins"));
  CHECK(first->Stop() == 0);
  hosted.PutWork(hosted.clusters()[0], "after");
  CHECK(hosted.Eventually([&] { return hosted.Has(hosted.clusters()[0], "after"); }));
}

TEST_CASE("a cluster that was taken out is registered again with another kubeconfig") {
  Hosted hosted(1);
  const std::string cluster = hosted.clusters()[0];
  hosted.PutSecrets();
  const auto agents = hosted.Start("agents");
  REQUIRE(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
  hosted.RemoveCluster(cluster);
  hosted.ReplaceCredentials(cluster);
  CHECK(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
}

TEST_CASE("a Cluster that was deleted by mistake is named, and made again with the Secret") {
  Hosted hosted(1);
  const std::string cluster = hosted.clusters()[0];
  hosted.PutSecrets();
  const auto agents = hosted.Start("agents");
  REQUIRE(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
  hosted.RemoveCluster(cluster);
  REQUIRE(hosted.Eventually([&] {
    return absl::StrContains(hosted.Log("agents"), "the cluster is not registered any more");
  }));
  CHECK_FALSE(hosted.IsReady(cluster));
  hosted.RemoveSecret(cluster);
  REQUIRE(hosted.Eventually([&] {
    return absl::StrContains(hosted.Log("agents"), "the agent of a cluster has stopped");
  }));
  hosted.PutSecret(cluster);
  CHECK(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
}

TEST_CASE("the agent of a cluster ends when its name is given to another cluster") {
  Hosted hosted(1);
  const std::string cluster = hosted.clusters()[0];
  hosted.PutSecrets();
  const auto agents = hosted.Start("agents");
  REQUIRE(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
  hosted.RemoveCluster(cluster);
  hosted.PutCluster(cluster, "another-id");
  CHECK(hosted.Eventually([&] {
    return absl::StrContains(hosted.Log("agents"), "has been given to another cluster");
  }));
  // It does not begin again either.
  hosted.PutWork(cluster, "of-the-other");
  CHECK(hosted.Eventually(
      [&] { return absl::StrContains(hosted.Log("agents"), "has been registered: another"); }));
  CHECK_FALSE(hosted.Has(cluster, "of-the-other"));
}

TEST_CASE("a Cluster that is made again for the same cluster is served as before") {
  Hosted hosted(1);
  const std::string cluster = hosted.clusters()[0];
  hosted.PutSecrets();
  const auto agents = hosted.Start("agents");
  REQUIRE(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
  const std::string id = hosted.IdOf(cluster);
  hosted.RemoveCluster(cluster);
  hosted.PutCluster(cluster, id);
  CHECK(hosted.Eventually([&] { return hosted.IsReady(cluster); }));
  hosted.PutWork(cluster, "after");
  CHECK(hosted.Eventually([&] { return hosted.Has(cluster, "after"); }));
  CHECK_FALSE(absl::StrContains(hosted.Log("agents"), "begins again"));
}

TEST_CASE("processes with different selectors each serve their clusters, in one namespace") {
  const std::vector<std::string> sharing =
      GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--shard-clusters"});
  Hosted hosted(8);
  hosted.PutSecrets();
  size_t at = 0;
  for (const std::string& cluster : hosted.clusters()) {
    const json::Value labels = json::Value::Object({{"part", at++ % 2 == 0 ? "even" : "odd"}});
    hosted.PatchSecret(
        cluster, json::Value::Object({{"metadata", json::Value::Object({{"labels", labels}})}}));
  }
  const auto start = [&](const std::string& part) {
    std::vector<std::string> flags = sharing;
    flags.push_back("--clusters-from-secrets=part=" + part);
    return hosted.Start(part, flags);
  };
  const auto even = start("even"), odd = start("odd");
  CHECK(hosted.Eventually([&] { return hosted.AllReady(); }));
}

}  // namespace tests
