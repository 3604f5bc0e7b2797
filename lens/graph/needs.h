// What live templates need: as their bindings record it, and as the interpreter says.
#ifndef LENS_GRAPH_NEEDS_H_
#define LENS_GRAPH_NEEDS_H_

#include <map>
#include <string>
#include <vector>

#include "api/dependencies.h"
#include "kube/meta/object.h"
#include "lens/graph/reading.h"
#include "lens/plan/outcome.h"
#include "lens/why/rules.h"

namespace lens::graph {

// Asks the rules of the control plane; webhooks are not called. What could not be determined is
// noted in the Reading. Everything is determined once. Not thread-safe.
class Needs {
 public:
  // Reads the rules. REQUIRES: `reading` and `bindings`, those by template that have been read so
  // far, outlive this object.
  Needs(Reading& reading, const std::map<plan::ObjectId, kube::ObjectPtr>& bindings,
        const interpreter::customized::MergeOptions& merge);

  // Returns whether the rules say what objects of the kind need, so that their content matters.
  bool AreAskedOf(const kube::Gvk& gvk) const;
  // The results of these two are valid as long as this object. Find returns the objects that the
  // reference names or selects.
  const std::vector<api::DependentReference>& Of(const kube::Object& object);
  const Reading::Answer& Find(const api::DependentReference& needed);

 private:
  std::vector<api::DependentReference> Ask(const kube::Object& object);
  Reading::Answer Read(const api::DependentReference& needed);

  Reading& reading_;
  const std::map<plan::ObjectId, kube::ObjectPtr>& bindings_;
  const why::Rules rules_;
  std::map<plan::ObjectId, std::vector<api::DependentReference>> needs_;
  std::map<std::string, Reading::Answer> found_;  // By the text of the reference.
};

}  // namespace lens::graph

#endif  // LENS_GRAPH_NEEDS_H_
