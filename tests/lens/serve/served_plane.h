// A simulated control plane with something to show, and a gate before it that answers in its place
// what a test wants.
#ifndef TESTS_LENS_SERVE_SERVED_PLANE_H_
#define TESTS_LENS_SERVE_SERVED_PLANE_H_

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/relay/relay.h"
#include "sandbox/fleet.h"
#include "sandbox/manifests.h"
#include "tests/support/temp_directory.h"

namespace tests {

inline constexpr char kShop[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}
)";

struct ServedPlane {
  std::unique_ptr<sandbox::Fleet> fleet;
  TempDirectory directory;
  kube::ConnectionConfig plane;  // Of somebody who may do everything.

  explicit ServedPlane(int members)
      : fleet(*sandbox::Fleet::Start(
            {.members = members, .with_scheduler = false, .crd_directory = "config/crds"})),
        plane(*kube::ParseKubeconfig(*fleet->Kubeconfig("karmada"), directory.path(), "")) {
    CreateAll(kShop);
  }

  void Create(const kube::Object& object) {
    sandbox::Backend& backend = fleet->control_plane().backend();
    REQUIRE(backend.Create(backend.Find(object.gvk()).gvr(), object).ok());
  }

  void CreateAll(const std::string& manifests) {
    directory.Write("objects.yaml", manifests);
    const auto objects = sandbox::ReadManifests(directory.path());
    REQUIRE(objects.ok());
    for (const kube::Object& object : *objects) Create(object);
  }
};

// The refusal of an API server. `kind` is the resource that it is about: "" when it is a path.
inline std::string Refusal(const std::string& message, const std::string& kind = "") {
  json::Value details = json::Value::Object();
  if (!kind.empty()) details.Set("kind", kind);
  return json::Write(json::Value::Object({{"kind", "Status"},
                                          {"apiVersion", "v1"},
                                          {"status", "Failure"},
                                          {"reason", "Forbidden"},
                                          {"message", message},
                                          {"details", std::move(details)},
                                          {"code", 403}}));
}

// Thread-safe.
class PlaneGate {
 public:
  // Answers a request, or keeps it, in the place of the control plane; returns false to have it
  // passed on. Is called on several threads.
  using Hook = std::function<bool(const base::HttpRequest& request,
                                  const std::shared_ptr<base::HttpResponder>& responder)>;

  PlaneGate(const kube::ConnectionConfig& plane, Hook hook)
      : hook_(std::move(hook)),
        forwarder_(*kube::Forwarder::Create(plane)),
        server_(*base::HttpServer::Start(
            {.address = "127.0.0.1:0", .threads = 2},
            [this](const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> to) {
              Handle(request, std::move(to));
            })) {}

  // Returns how to reach it, without credentials.
  kube::ConnectionConfig Address() const {
    kube::ConnectionConfig config;
    config.server = absl::StrCat("http://127.0.0.1:", server_->port());
    return config;
  }

 private:
  void Handle(const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder) {
    if (hook_(request, responder)) return;
    kube::RelayOptions options;
    options.path = request.target;
    options.on_error = [](const absl::Status& error) {
      return base::HttpResponse{502, "text/plain", {}, std::string(error.message())};
    };
    kube::Relay(request, std::move(responder), *forwarder_, std::move(options));
  }

  const Hook hook_;
  const std::shared_ptr<kube::Forwarder> forwarder_;
  const std::unique_ptr<base::HttpServer> server_;
};

}  // namespace tests

#endif  // TESTS_LENS_SERVE_SERVED_PLANE_H_
