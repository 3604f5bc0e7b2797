// Reads objects of member clusters from outside: with the credentials of the Cluster, else through
// the control plane's proxy. Keeps one client for each member.
#ifndef CMD_INTERPRET_MEMBER_SOURCE_H_
#define CMD_INTERPRET_MEMBER_SOURCE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "tool/live_objects.h"

namespace cmd::interpret {

// Not thread-safe.
class MemberSource {
 public:
  // REQUIRES: `live` outlives this.
  explicit MemberSource(tool::LiveConnection& live) : live_(live) {}

  // Returns nullopt when the member does not have the object. A member that could not be read once
  // is not asked again: each later call returns that error, so that a member which is down costs
  // its deadline once.
  absl::StatusOr<std::optional<kube::Object>> Get(const std::string& cluster,
                                                  const kube::Resource& resource,
                                                  const kube::ObjectKey& key);

 private:
  struct Member {
    std::unique_ptr<kube::Client> client;
    absl::Status unusable;  // Why it is not asked any more.
  };

  // Connects to the member in the way that works for reading this object, and returns the object.
  absl::StatusOr<std::optional<kube::Object>> First(const std::string& cluster, Member& member,
                                                    const kube::Resource& resource,
                                                    const kube::ObjectKey& key);
  absl::StatusOr<std::unique_ptr<kube::Client>> ConnectDirectly(const std::string& cluster);
  absl::StatusOr<std::unique_ptr<kube::Client>> ConnectByProxy(const std::string& cluster);

  tool::LiveConnection& live_;
  std::map<std::string, Member> members_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_MEMBER_SOURCE_H_
