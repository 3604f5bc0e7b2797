// Where rows of the table play: a simulated control plane, asked as karmada-lens asks it.
#ifndef TESTS_ADVICE_STAGE_H_
#define TESTS_ADVICE_STAGE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/why/diagnosis.h"
#include "tests/advice/row.h"
#include "tests/support/control_plane.h"

namespace tests::advice {

// What `karmada-lens why` says.
struct Answer {
  std::string headline;
  std::string advice;
  bool arrived = false;
};

// What a row's namespace has, by "member1: Deployment web": the uid of each object. Pods and what
// else controllers make and renew by themselves are left out.
using Inventory = std::map<std::string, std::string>;

class Stage {
 public:
  explicit Stage(ControlPlane& plane) : plane_(plane) {}

  // Asks about what `ask` names (kind, apiVersion, name, cluster; Deployment web without them).
  Answer Why(const json::Value& ask, const Place& place);
  // Reads again what the control plane serves.
  void Discover();
  // Carries out the steps of a list. Returns which one did not succeed, and why; "" when all did.
  std::string Do(const json::Value& steps, const Place& place);
  // Creates or patches objects in a cluster.
  absl::Status Apply(const std::string& cluster, const std::vector<kube::Object>& objects);
  // Returns what there is in each row's namespace, in all clusters.
  std::vector<Inventory> Take(const std::vector<Place>& places);
  // Returns whether the servers are real ones.
  bool is_real() const { return plane_.fleet() == nullptr; }

 private:
  absl::Status DoOne(const json::Value& step, const Place& place);
  absl::Status AwaitLine(const std::string& line, const Place& place);
  absl::Status AwaitKind(const std::string& kind, const std::string& member);
  absl::Status ChangeServer(const json::Value& step, const std::string& cluster);
  absl::Status ChangeToken(const std::string& what, const std::string& member);
  // Returns the kind of that name that the cluster serves, and the object's key.
  std::pair<kube::Resource, kube::ObjectKey> Find(const std::string& cluster,
                                                  const std::string& object, const std::string& ns);
  sandbox::ApiServer& server(const std::string& cluster);
  // Returns what the cluster serves now.
  std::vector<kube::Resource> Served(const std::string& cluster);
  // Returns the objects of all namespaces.
  std::vector<kube::ObjectPtr> ListAll(const std::string& cluster, const kube::Resource& resource);

  ControlPlane& plane_;
  kube::Discovery discovery_;
  std::map<std::string, kube::Object> secrets_;  // Credentials that were taken away, by member.
};

}  // namespace tests::advice

#endif  // TESTS_ADVICE_STAGE_H_
