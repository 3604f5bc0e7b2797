// A control plane with members in this process, without a daemon: tests write bindings and Works
// themselves.
#ifndef TESTS_CMD_INTERPRET_LIVE_FLEET_H_
#define TESTS_CMD_INTERPRET_LIVE_FLEET_H_

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/yaml.h"
#include "kube/client/client.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/fleet.h"
#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"
#include "tool/live_objects.h"

namespace tests {

class LiveFleet {
 public:
  explicit LiveFleet(int members) {
    sandbox::FleetOptions options;
    options.members = members;
    options.with_scheduler = false;
    auto fleet = sandbox::Fleet::Start(options);
    REQUIRE(fleet.ok());
    fleet_ = *std::move(fleet);
    kubeconfig_ = directory_.Write("kubeconfig", fleet_->Kubeconfig("karmada").value());
  }

  const std::string& kubeconfig() const { return kubeconfig_; }
  sandbox::Fleet& fleet() { return *fleet_; }
  TempDirectory& directory() { return directory_; }

  // Creates the object of each text, and then writes the status that it has, on "karmada" or a
  // member.
  void Create(const std::string& cluster, const std::vector<std::string>& manifests) {
    kube::Client client(TransportOf(cluster), {}, base::RealClock(), nullptr);
    const auto discovery = kube::Discover(client, {});
    REQUIRE(discovery.ok());
    for (const std::string& manifest : manifests) {
      const auto parsed = yaml::Parse(manifest);
      INFO(manifest);
      REQUIRE(parsed.ok());
      CreateOne(client, *discovery, kube::Object(*parsed));
    }
  }

  // Runs the program with --kubeconfig.
  Ran Run(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.end(), {"--kubeconfig", kubeconfig_});
    return RunTool(arguments, input);
  }

 private:
  std::shared_ptr<kube::Transport> TransportOf(const std::string& cluster) {
    const std::string file =
        directory_.Write("kubeconfig-" + cluster, fleet_->Kubeconfig(cluster).value());
    const auto config = kube::LoadConnectionConfig({file, ""});
    REQUIRE(config.ok());
    return kube::NewHttpTransport(*config).value();
  }

  static void CreateOne(kube::Client& client, const kube::Discovery& discovery,
                        const kube::Object& object) {
    const auto resource = tool::FindResource(discovery, object.kind());
    REQUIRE(resource.ok());
    const auto created = client.Create(*resource, object, {}, {});
    INFO(created.status());
    REQUIRE(created.ok());
    if (object.status().is_null()) return;
    const auto patched = client.Patch(*resource, object.key(), kube::PatchType::kMerge,
                                      json::Value::Object({{"status", object.status()}}),
                                      {.subresource = "status"}, {});
    INFO(patched.status());
    REQUIRE(patched.ok());
  }

  TempDirectory directory_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::string kubeconfig_;
};

}  // namespace tests

#endif  // TESTS_CMD_INTERPRET_LIVE_FLEET_H_
