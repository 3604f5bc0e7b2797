// Grades of nodes: how much room a node has, in the terms of Cluster.spec.resourceModels.
#ifndef CONTROLLERS_CLUSTERSTATUS_RESOURCE_MODELS_H_
#define CONTROLLERS_CLUSTERSTATUS_RESOURCE_MODELS_H_

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
  ResourceModels() = default;  // None.
  // `models`: spec.resourceModels. A minimum that is no quantity is no condition.
  explicit ResourceModels(const json::Value& models);

  // What they were made from.
  const json::Value& source() const { return source_; }
  size_t size() const { return models_.size(); }
  int64_t grade(size_t index) const { return models_[index].grade; }

  // Index of the best model all of whose resources a node with this room can offer; -1 when it is
  // below every one (upstream's modeling.AddToResourceSummary).
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

#endif  // CONTROLLERS_CLUSTERSTATUS_RESOURCE_MODELS_H_
