// Determines what a template depends on.
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/dependencies.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "interpreter/interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// What a search has found.
struct FoundDependencies {
  json::Value list;       // References; null for nothing.
  absl::Status complete;  // Not OK: names why the list may lack something.
  // The present state of the template has not passed: what the list lacks may be needed all the
  // same.
  bool held_back = false;
};

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
  // Returns what the object of a known kind depends on: first what it names itself, then, if the
  // search is transitive, what those of its dependencies name that exist, each reference once. The
  // object itself is not among the latter. An error means that it is not known what the object
  // names itself. When something cannot be found out about one of its dependencies, the search goes
  // on with the others, and the list is not complete. With more than a thousand objects it is not
  // complete either (kResourceExhausted), and has only what the object names itself.
  absl::StatusOr<FoundDependencies> DependenciesOf(const kube::Object& object,
                                                   const base::StopToken& stop) const;
  // Returns the same for an object whose present state is held back: what the binding records, and
  // what these states of the object depend on (held_needs.h).
  absl::StatusOr<FoundDependencies> DependenciesOf(const kube::Object& object,
                                                   const kube::Object& binding,
                                                   const std::vector<kube::ObjectPtr>& states,
                                                   const base::StopToken& stop) const;

 private:
  class Found;
  // Returns the dependencies of an object that names these itself.
  absl::StatusOr<FoundDependencies> DependenciesBy(const kube::Object& object, json::Value named,
                                                   const base::StopToken& stop) const;
  absl::StatusOr<json::Value> NamedBy(const kube::Object& object) const;
  // Adds what the objects need that the reference is about.
  absl::Status AddNeedsOf(const api::DependentReference& reference, Found& found,
                          const base::StopToken& stop) const;

  const Deps deps_;
};

// Returns the list, followed by what the binding records and the list does not have.
json::Value WithRecorded(json::Value list, const kube::Object& binding);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCY_SEARCH_H_
