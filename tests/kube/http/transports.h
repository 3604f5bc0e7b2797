// Both HTTP transports, for tests that hold for each.
#ifndef TESTS_KUBE_HTTP_TRANSPORTS_H_
#define TESTS_KUBE_HTTP_TRANSPORTS_H_

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kube/http/http_transport.h"

namespace tests {

struct TransportKind {
  std::string name;
  absl::StatusOr<std::shared_ptr<kube::Transport>> (*make)(const kube::ConnectionConfig& config);
};

inline TransportKind& CurrentTransport() {
  static TransportKind kind = {"lean", &kube::NewHttpTransport};
  return kind;
}

// Must come first in a test case: the rest runs once for each transport.
inline void ForEachTransport() {
  CurrentTransport() = GENERATE(TransportKind{"lean", &kube::NewHttpTransport},
                                TransportKind{"cpprest", &kube::NewCpprestTransport});
}

// Must come first in a test case that only holds for the lean transport.
inline void LeanTransportOnly() { CurrentTransport() = {"lean", &kube::NewHttpTransport}; }

// Makes the transport that is being tested.
inline absl::StatusOr<std::shared_ptr<kube::Transport>> MakeTransport(
    const kube::ConnectionConfig& config) {
  return CurrentTransport().make(config);
}

inline std::shared_ptr<kube::Transport> Connect(const kube::ConnectionConfig& config) {
  auto transport = MakeTransport(config);
  INFO(CurrentTransport().name << ": " << transport.status());
  REQUIRE(transport.ok());
  return *transport;
}

}  // namespace tests

#endif  // TESTS_KUBE_HTTP_TRANSPORTS_H_
