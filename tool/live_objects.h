// Finds objects of a running cluster as kubectl does, by TYPE/NAME, a kubeconfig and a namespace.
#ifndef TOOL_LIVE_OBJECTS_H_
#define TOOL_LIVE_OBJECTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"

namespace tool {

struct LiveOptions {
  std::string program;     // The name that servers see in User-Agent; "" sends none.
  std::string kubeconfig;  // "" stands for kubectl's defaults: $KUBECONFIG, ~/.kube/config.
  std::string context;     // "" stands for the current one.
  std::string ns;          // "" stands for that of the context, else "default".
  // How long a server that has been connected to may take to answer for the first time.
  absl::Duration first_answer = absl::Seconds(15);
  const char* flag = "--kubeconfig";  // Which flag `kubeconfig` is the value of, for errors.
};

// The parts of "deployment/web". TYPE is a plural, a kind, a singular or a short name in any case,
// alone or followed by ".group" or ".version.group".
struct LiveReference {
  std::string type;
  std::string name;
};
// kInvalidArgument unless the text has the form TYPE/NAME.
absl::StatusOr<LiveReference> ParseLiveReference(absl::string_view text);

// Returns the resource that a TYPE stands for on a server: the first listed group that has it, in
// its preferred version. kNotFound when the server has no such type.
absl::StatusOr<kube::Resource> FindResource(const kube::Discovery& discovery,
                                            absl::string_view type);

// An API server that has been connected to, and what it serves.
struct LiveConnection {
  LiveConnection(kube::ConnectionConfig how, std::shared_ptr<kube::Transport> transport,
                 kube::ClientOptions options);

  kube::ConnectionConfig config;
  kube::Client client;
  kube::Discovery discovery;
  std::string ns;  // The namespace that LiveOptions stand for.
};

// Connects to the server that the options name, and runs discovery once. kDeadlineExceeded when the
// server does not answer at all.
absl::StatusOr<std::unique_ptr<LiveConnection>> Connect(const LiveOptions& options);

// Connects when the first object is requested; discovery is done once for all of them.
class LiveObjects {
 public:
  explicit LiveObjects(LiveOptions options);
  ~LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  absl::StatusOr<kube::Object> Get(absl::string_view reference);

 private:
  LiveOptions options_;
  std::unique_ptr<LiveConnection> connection_;
};

}  // namespace tool

#endif  // TOOL_LIVE_OBJECTS_H_
