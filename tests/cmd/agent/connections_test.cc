#include "cmd/agent/connections.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cmd {
namespace {

std::string Kubeconfig(const std::string& server, const std::string& token) {
  return absl::StrCat("apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n",
                      "- {name: c, cluster: {server: \"", server, "\"}}\nusers:\n",
                      "- {name: u, user: {token: \"", token, "\"}}\ncontexts:\n",
                      "- {name: x, context: {cluster: c, user: u}}\n");
}

struct Fixture {
  const std::shared_ptr<KubeconfigText> text =
      std::make_shared<KubeconfigText>(Kubeconfig("https://127.0.0.1:1", "a"));
  const std::shared_ptr<ControlPlaneAccess> access =
      ConnectAgent(text, Kubeconfig("https://127.0.0.1:2", "m"))->control_plane;
};

TEST_CASE_METHOD(Fixture, "other credentials for the same control plane are taken into use") {
  CHECK_FALSE(*access->ReloadOfSame());
  text->Set(Kubeconfig("https://127.0.0.1:1", "b"));
  CHECK(*access->ReloadOfSame());
  CHECK_FALSE(*access->ReloadOfSame());
}

TEST_CASE_METHOD(Fixture, "an agent ends when its kubeconfig leads to another control plane") {
  text->Set(Kubeconfig("https://127.0.0.1:3", "a"));
  KubeconfigWatch watch(access);
  watch.Wake();
  const absl::Status ended = watch.Run(base::StopToken());
  CHECK(absl::IsAborted(ended));
  CHECK(absl::StrContains(ended.message(), "https://127.0.0.1:3 in place of https://127.0.0.1:1"));
}

TEST_CASE_METHOD(Fixture, "before anything has been read another control plane may be used") {
  text->Set(Kubeconfig("https://127.0.0.1:3", "a"));
  CHECK(*access->Reload());
  text->Set(Kubeconfig("https://127.0.0.1:3", "b"));
  CHECK(*access->ReloadOfSame());
}

TEST_CASE_METHOD(Fixture,
                 "the agent of a cluster that was taken out ends with another kubeconfig") {
  text->Set(Kubeconfig("https://127.0.0.1:1", "b"));
  base::StopSource stop;
  bool is_gone = true;
  SECTION("because the cluster comes back") {
    KubeconfigWatch watch(access, {{"edge1", [&] { return is_gone; }}});
    watch.Wake();
    CHECK(absl::IsAborted(watch.Run(stop.get_token())));
  }
  SECTION("but not while the cluster is registered") {
    is_gone = false;
    KubeconfigWatch watch(access, {{"edge1", [&] {
                                      stop.request_stop();
                                      return is_gone;
                                    }}});
    watch.Wake();
    CHECK(watch.Run(stop.get_token()).ok());
  }
}

}  // namespace
}  // namespace cmd
