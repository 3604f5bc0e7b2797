// What the control plane shows of failures: the conditions and events of the controller manager
// that leads, beside which a shadow runs. With it a shadow tells what fails everywhere from what
// fails here alone.
#ifndef CMD_CONTROLLER_MANAGER_SHOWN_FAILURES_H_
#define CMD_CONTROLLER_MANAGER_SHOWN_FAILURES_H_

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/shadow/shadow.h"

namespace cmd {

// Immutable, so that any thread may read it.
class ShownFailures {
 public:
  struct Objects {
    std::vector<kube::ObjectPtr> works, clusters;
    std::vector<kube::ObjectPtr> bindings;  // ResourceBindings and ClusterResourceBindings.
    // Warnings, and events of the type Normal: the success of a component after its failure.
    std::vector<kube::Object> events;
  };
  // An event that was written last before this time counts no more. It is longer than the longest
  // back-off of a loop, so that what still fails has a younger one.
  static constexpr absl::Duration kEventAge = absl::Minutes(30);

  ShownFailures() = default;
  ShownFailures(const Objects& objects, absl::Time now);

  // Returns what shows that the key of a loop fails with the leader, too: the cluster is not ready,
  // the Work is not applied, a Warning is about the object or, for a binding, its template, or the
  // template that the resource detector fails at has no binding. A Warning counts until its
  // component says of the same object that it has succeeded with the same. "" when nothing shows
  // it. `key` is kube::Request::ToString(), or "CLUSTER KIND" for the controller "cache". Only
  // a reader of both texts can determine whether it is the same failure.
  std::string OfKey(absl::string_view controller, absl::string_view key) const;
  // Returns what shows that the leader tries the same write and fails; "" when nothing shows it.
  // What is written to a member fails while its Work is not applied; a template and its binding are
  // not written while the detector says that applying the policy fails. A failure of anything else
  // is no reason for a write, and a deletion is never explained: it would be taken for one that is
  // tried, although nobody does.
  std::string OfWrite(const kube::Shadow::Subject& subject) const;
  // Returns the condition that shows that a cluster is not ready; "" when it is.
  std::string OfCluster(absl::string_view cluster) const;
  // The clusters that are not ready, with their conditions.
  const std::map<std::string, std::string, std::less<>>& clusters() const { return clusters_; }

 private:
  // Cluster, kind, namespace, name.
  using MemberKey = std::tuple<std::string, std::string, std::string, std::string>;
  void AddWork(const kube::Object& work);
  // By kind, namespace and name of the object, the component, and what it has succeeded with.
  using Successes =
      std::map<std::tuple<std::string, kube::ObjectKey, std::string, std::string>, absl::Time>;
  void AddEvent(const kube::Object& event, const Successes& successes, absl::Time now);
  // An empty kind stands for any.
  std::string OfEvents(absl::string_view kind, const kube::ObjectKey& key) const;
  std::string OfBinding(const kube::ObjectKey& key) const;
  std::string OfMissingBinding(const std::string& kind, const kube::ObjectKey& object) const;

  std::map<std::string, std::string, std::less<>> clusters_;
  std::map<kube::ObjectKey, std::string> works_;
  std::map<MemberKey, std::string> member_objects_;
  struct Template {
    std::string kind;
    kube::ObjectKey key;
  };
  std::map<kube::ObjectKey, Template> bindings_;
  struct Shown {
    absl::Time time;
    std::string text;
  };
  std::map<kube::ObjectKey, std::map<std::string, Shown>> events_;  // By kind.
  // Templates whose policy cannot be applied, by the names of their bindings, and by themselves.
  std::map<kube::ObjectKey, std::string> unbound_;
  std::map<std::pair<std::string, kube::ObjectKey>, std::string> unclaimed_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHOWN_FAILURES_H_
