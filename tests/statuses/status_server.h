// The API server that statuses are written to: the sandbox's, or, with STATUS_SERVER=<kubeconfig>,
// a real one. No controllers run beside it, so that a status stays as a test has written it.
#ifndef TESTS_STATUSES_STATUS_SERVER_H_
#define TESTS_STATUSES_STATUS_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "sandbox/api_server.h"

namespace tests {

// Every failure but that of a write that a caller asked for fails the test.
class StatusServer {
 public:
  StatusServer();
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;

  // Its version is 1.<minor>.
  int64_t minor() const { return minor_; }

  // Creates the object, in a namespace that only this instance uses; returns it as the server has
  // it.
  kube::Object Create(const std::string& name, const kube::Object& object);
  // Merges into the spec; returns the object as the server has it then.
  kube::Object PatchSpec(const kube::Object& object, const json::Value& spec);
  // Writes the status over the one of `object`, which has to be the present version. Returns the
  // object as the server has it then, or the message of the refusal as the code kInvalidArgument.
  absl::StatusOr<kube::Object> WriteStatus(const kube::Object& object, const json::Value& status);
  void Delete(const kube::Object& object);

 private:
  std::unique_ptr<sandbox::ApiServer> sandbox_;  // Null with STATUS_SERVER.
  std::unique_ptr<kube::Client> client_;
  std::string namespace_;
  int64_t minor_ = 0;
};

// Returns the value of an environment variable, or `otherwise`.
int64_t FromEnvironment(const char* name, int64_t otherwise);

}  // namespace tests

#endif  // TESTS_STATUSES_STATUS_SERVER_H_
