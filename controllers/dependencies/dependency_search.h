// Determines what a template depends on.
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_

#include "absl/status/statusor.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "interpreter/interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Asks the interpreter; with the gate TransitiveDependencies also about the objects that it names,
// and so on. Upstream asks about the template only. Thread-safe.
class DependencySearch {
 public:
  struct Deps {
    kube::ClusterClient& client;
    const interpreter::Interpreter& interpreter;
    bool transitive = false;
  };
  // REQUIRES: what is in `deps` outlives the search.
  explicit DependencySearch(Deps deps) : deps_(deps) {}

  // Returns whether there is a rule for the dependencies of this kind.
  bool Knows(const kube::Gvk& gvk) const;
  // Returns the references to what the object of a known kind depends on, null for nothing: first
  // those that it names itself, then, if the search is transitive, those of its dependencies that
  // exist, each once. The object itself is not among the latter. kResourceExhausted when there are
  // more than a thousand.
  absl::StatusOr<json::Value> DependenciesOf(const kube::Object& object,
                                             const base::StopToken& stop) const;

 private:
  absl::StatusOr<json::Value> NamedBy(const kube::Object& object) const;

  const Deps deps_;
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_
