// Reads what has to do with one object of a live control plane, and nothing else.
#ifndef LENS_GRAPH_SURROUNDINGS_H_
#define LENS_GRAPH_SURROUNDINGS_H_

#include <cstddef>
#include <string>

#include "kube/meta/names.h"
#include "lens/graph/live_objects.h"
#include "lens/graph/needs.h"
#include "lens/graph/reading.h"

namespace lens::graph {

// Adds to the LiveObjects: templates, their bindings and Works, policies and clusters. The number
// of requests depends on what hangs together with the object, not on the control plane. Not
// thread-safe.
class Surroundings {
 public:
  // With more templates than this, lists of the whole control plane cost less than a few requests
  // for each of them.
  static constexpr size_t kMostTemplates = 50;

  // REQUIRES: the arguments outlive this object; `needs` reads the bindings of `objects`.
  Surroundings(Reading& reading, Needs& needs, LiveObjects& objects)
      : reading_(reading), needs_(needs), objects_(objects) {}

  // What the template needs, to the end; by what the bindings record, what needs it; and the
  // policies that have brought those.
  void ReadTemplate(const Target& asked);
  // What the policy has claimed, and what that needs. Returns whether all claims could be read.
  bool ReadPolicy(const kube::Resource& resource, const kube::ObjectKey& key);
  // Returns whether more than kMostTemplates hang together. Then not all of them have been read.
  bool AreTooMany() const {
    return are_too_many_ || objects_.templates.size() + objects_.others.size() > kMostTemplates;
  }

 private:
  void AddNeeded(const Target& first);
  void AddNeeding(const kube::ObjectPtr& first);
  void AddNeedingByRecord(const Target& asked);
  void AddBindingOf(const Target& target);
  void AddPolicyOf(const kube::Object& binding);
  // Adds the Works of all bindings, and the clusters of both.
  void AddPlaces();
  void AddWorksOf(const plan::ObjectId& id, const kube::Object& binding);
  void AddCluster(const std::string& name);

  Reading& reading_;
  Needs& needs_;
  LiveObjects& objects_;
  bool are_too_many_ = false;  // So many are referred to, whether they have been read or not.
};

}  // namespace lens::graph

#endif  // LENS_GRAPH_SURROUNDINGS_H_
