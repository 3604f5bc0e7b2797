// Servers for the tests of base/http_server.
#ifndef TESTS_BASE_HTTP_FIXTURE_H_
#define TESTS_BASE_HTTP_FIXTURE_H_

#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"

namespace tests {

inline std::unique_ptr<base::HttpServer> StartServer(base::HttpHandler handler,
                                                     base::HttpServerOptions options = {}) {
  auto server = base::HttpServer::Start(std::move(options), std::move(handler));
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return std::move(*server);
}

// Sends the body back, and the path in the header X-Path.
inline base::HttpHandler EchoHandler() {
  return [](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send({200, "text/plain", {{"X-Path", request.path}}, request.body});
  };
}

// Leaves a request unanswered until the test answers it. Outlives the server.
class KeptRequest {
 public:
  base::HttpHandler Handler() {
    return [this](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
      absl::MutexLock lock(&mu_);
      responder_ = std::move(responder);
    };
  }
  // Waits until the request has come.
  base::HttpResponder& Await() {
    const auto came = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return responder_ != nullptr; };
    absl::MutexLock lock(&mu_, absl::Condition(&came));
    return *responder_;
  }

 private:
  absl::Mutex mu_;
  std::shared_ptr<base::HttpResponder> responder_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tests

#endif  // TESTS_BASE_HTTP_FIXTURE_H_
