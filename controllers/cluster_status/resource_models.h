// Grades nodes by the room that they have, as Cluster.spec.resourceModels defines.
#ifndef CONTROLLERS_CLUSTER_STATUS_RESOURCE_MODELS_H_
#define CONTROLLERS_CLUSTER_STATUS_RESOURCE_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/meta/quantity.h"

namespace controllers {

// Amounts by the name of their resource.
using Quantities = std::map<std::string, kube::Quantity>;

class ResourceModels {
 public:
  ResourceModels() = default;  // No models.
  // `models` is spec.resourceModels. A minimum that is not a quantity is ignored.
  explicit ResourceModels(const json::Value& models);

  // Returns the `models` that this was made from.
  const json::Value& source() const { return source_; }
  size_t size() const { return models_.size(); }
  int64_t grade(size_t index) const { return models_[index].grade; }

  // Returns the index of the highest model whose resources a node with this room can all offer; -1
  // when there is none (upstream's modeling.AddToResourceSummary).
  int IndexFor(const Quantities& available) const;

 private:
  struct Range {
    std::string name;
    kube::Quantity min;
  };
  struct Model {
    int64_t grade = 0;
    std::vector<Range> ranges;
  };
  json::Value source_;
  std::vector<Model> models_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_RESOURCE_MODELS_H_
