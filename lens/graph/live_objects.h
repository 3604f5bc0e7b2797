// Objects of a live control plane that a graph is made from.
#ifndef LENS_GRAPH_LIVE_OBJECTS_H_
#define LENS_GRAPH_LIVE_OBJECTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/binding.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/graph/reading.h"
#include "lens/plan/outcome.h"

namespace lens::graph {

// A template by its kind and name; unlike plan::ObjectId with the version to ask for.
struct Target {
  kube::Gvk gvk;
  kube::ObjectKey key;

  static Target Of(const kube::Object& binding) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    return {reference.gvk(), reference.key()};
  }
  plan::ObjectId id() const { return {gvk.group, gvk.kind, key.ns, key.name}; }
};

struct LiveObjects {
  std::map<plan::ObjectId, kube::ObjectPtr> bindings;  // By their templates.
  std::map<plan::ObjectId, kube::ObjectPtr> policies;
  std::map<std::string, kube::ObjectPtr> clusters;
  std::vector<kube::ObjectPtr> works;
  std::set<plan::ObjectId> works_known;                 // Templates whose Works have all been read.
  std::map<plan::ObjectId, Reading::Answer> templates;  // Whose needs are to be shown.
  std::map<plan::ObjectId, Reading::Answer> others;     // Templates whose needs are not.
};

// Returns the fields of Works that a graph shows.
inline const std::vector<std::string>& WorkFields() {
  static const auto& fields = *new std::vector<std::string>{
      "metadata.labels", "metadata.annotations", "metadata.deletionTimestamp",
      "spec.suspendDispatching", "status.conditions"};
  return fields;
}

}  // namespace lens::graph

#endif  // LENS_GRAPH_LIVE_OBJECTS_H_
