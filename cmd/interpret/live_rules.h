// Reads the interpreter's rules of a running control plane: customizations and webhook
// configurations.
#ifndef CMD_INTERPRET_LIVE_RULES_H_
#define CMD_INTERPRET_LIVE_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/interpret/webhooks.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

struct LiveRules {
  std::vector<kube::Object> customizations;
  std::vector<kube::Object> configurations;  // Of webhooks, of both kinds.
  // Without `kinds`. Unlike elsewhere hooks behind Services are among them.
  Webhooks webhooks;
  // What could not be read, and why; the rest may be incomplete then.
  std::vector<std::string> unread;
};

// An error if the customizations cannot be read. Webhook configurations that cannot be read are
// among `unread`, unless the server does not serve their kind.
absl::StatusOr<LiveRules> ReadLiveRules(tool::LiveConnection& live);

// Returns how the server serves the kind; nullopt when it does not.
std::optional<kube::Resource> FindKind(const kube::Discovery& discovery, const kube::Gvk& gvk);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LIVE_RULES_H_
