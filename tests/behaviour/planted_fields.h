// Fields of a later release of Karmada, planted in all objects of Karmada's kinds at every level,
// to see whether they are still there after others have written the objects.
#ifndef TESTS_BEHAVIOUR_PLANTED_FIELDS_H_
#define TESTS_BEHAVIOUR_PLANTED_FIELDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "tests/support/control_plane.h"

namespace tests {

class PlantedFields {
 public:
  // Has the sandbox keep what the definitions of Karmada's kinds do not know. The seed determines
  // names and values. REQUIRES: `plane` outlives this.
  PlantedFields(ControlPlane& plane, uint64_t seed);

  // Plants a field in every object of the definitions (the root, members, items of lists) of every
  // object that there is. Maps with any names, and what Karmada passes through, such as manifests
  // and their statuses, are not objects of the definitions. Nothing is planted in copies of parts
  // of other objects: the placement of a policy, the clusters of a binding that needs another one.
  void Plant();

  // Returns a line for each planted field that is not there any more, or not as it was. A field may
  // have moved with its item in a list. Lines for which `may_go` holds are left out.
  using MayGo = std::function<bool(const std::string& field)>;
  std::string Missing(const MayGo& may_go = [](const std::string&) { return false; }) const;
  // Returns the names of the fields that are below a path ("spec.clusters[]") of an object.
  std::vector<std::string> Below(const kube::Gvk& gvk, const kube::ObjectKey& key,
                                 const std::string& path) const;
  // Returns "<kind> <key> <resourceVersion>" of each object that has planted fields. Clusters and
  // FederatedHPAs are left out: their status follows what members say at the moment.
  std::string Versions() const;

 private:
  struct Kind {
    kube::Resource resource;
    json::Value schema;  // As it was before.
  };
  struct Field {
    std::string path;  // Of its object: "spec.clusters[]"; "" stands for the root.
    std::string name;
    json::Value value;
  };
  using Address = std::pair<size_t, kube::ObjectKey>;  // With the index in kinds_.

  void RelaxDefinitions();
  json::Value AnyValue();
  void PlantIn(json::Value& value, const json::Value& schema, const std::string& path,
               const kube::Object& of);
  void PlantOne(json::Value& value, const std::string& path);
  void PlantInPart(const Address& at, const std::string& subresource);
  kube::Object Get(const Address& at) const;

  ControlPlane& plane_;
  std::mt19937_64 random_;
  int64_t count_ = 0;
  std::vector<Kind> kinds_;
  std::vector<Field> attempt_;  // Of the object that is being written.
  std::map<Address, std::vector<Field>> planted_;
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_PLANTED_FIELDS_H_
