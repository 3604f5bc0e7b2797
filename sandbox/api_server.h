// A simulated kube-apiserver: a Backend with an HTTPS, or HTTP, front end.
#ifndef SANDBOX_API_SERVER_H_
#define SANDBOX_API_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/tls.h"
#include "sandbox/http/fault_injection.h"
#include "sandbox/http/request_counts.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

class Interference;

struct ApiServerOptions {
  std::string name;  // "karmada-apiserver", "member1".
  int port = 0;      // 0 picks a free port.
  tls::ServerOptions tls;
  bool with_tls = true;  // False: plain HTTP, where tokens alone tell who asks.
  // Maps bearer tokens to users; client certificates give user and groups by CN and O.
  std::map<std::string, std::string> tokens;
  bool allow_anonymous = false;
  // The Kubernetes version in the answer to /version.
  std::string git_version = "v1.35.3";
  absl::Duration bookmark_period = absl::Seconds(30);
  size_t history_events = 20000;  // How many changes are kept, so that a watch can resume.
};

class ApiServer {
 public:
  // Starts a server. When this returns, it serves the built-in kinds (core, apps, batch, rbac,
  // networking, policy, autoscaling, storage, coordination, discovery, events,
  // admissionregistration, apiextensions ...).
  static absl::StatusOr<std::unique_ptr<ApiServer>> Start(ApiServerOptions options);
  virtual ~ApiServer() = default;

  virtual Backend& backend() = 0;
  virtual Faults& faults() = 0;
  virtual int port() const = 0;
  virtual std::string url() const = 0;
  virtual std::vector<RequestCount> Requests() const = 0;
  // The resourceVersion of the last change.
  virtual int64_t version() const = 0;
  // Has requests and watches that begin from now on pass through a test's interference; nullptr
  // ends that. See sandbox/http/interference.h.
  virtual void SetInterference(std::shared_ptr<Interference> interference) = 0;
  // Registers a bearer token.
  virtual void AddToken(std::string token, std::string user) = 0;
  virtual void RevokeToken(const std::string& token) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_API_SERVER_H_
