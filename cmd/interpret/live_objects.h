// Objects of a running cluster, found as kubectl finds them: TYPE/NAME, a kubeconfig, a namespace.
#ifndef CMD_INTERPRET_LIVE_OBJECTS_H_
#define CMD_INTERPRET_LIVE_OBJECTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/rest_mapper.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

struct LiveOptions {
  std::string kubeconfig;  // "": as kubectl: $KUBECONFIG, ~/.kube/config.
  std::string context;     // "": the current one.
  std::string ns;          // "": the context's, else "default".
};

// "deployment/web" taken apart. TYPE is a plural, a kind, a singular or a short name in any case,
// followed by nothing, by ".group" or by ".version.group".
struct LiveReference {
  std::string type;
  std::string name;
};
// kInvalidArgument unless the text is TYPE/NAME.
absl::StatusOr<LiveReference> ParseLiveReference(absl::string_view text);

// What a TYPE means on a server: of several groups the first one listed, in its preferred version.
// kNotFound when the server has no such type.
absl::StatusOr<kube::Resource> FindResource(const kube::Discovery& discovery,
                                            absl::string_view type);

// Connects at the first question; one discovery for all of them.
class LiveObjects {
 public:
  explicit LiveObjects(LiveOptions options);
  ~LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  absl::StatusOr<kube::Object> Get(absl::string_view reference);

 private:
  struct Connection;
  absl::StatusOr<Connection*> Connect();

  LiveOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LIVE_OBJECTS_H_
