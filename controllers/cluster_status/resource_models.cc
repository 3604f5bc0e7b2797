#include "controllers/cluster_status/resource_models.h"

#include <algorithm>
#include <utility>

namespace controllers {

ResourceModels::ResourceModels(const json::Value& models) : source_(models) {
  for (const json::Value& m : models.items()) {
    Model model;
    model.grade = m["grade"].AsInt();
    for (const json::Value& r : m["ranges"].items()) {
      const absl::StatusOr<kube::Quantity> q = kube::Quantity::FromJson(r["min"]);
      if (q.ok()) model.ranges.push_back({r["name"].ToString(), *q});
    }
    models_.push_back(std::move(model));
  }
}

int ResourceModels::IndexFor(const Quantities& available) const {
  std::map<absl::string_view, int> best;
  for (size_t i = 0; i < models_.size(); ++i) {
    for (const Range& r : models_[i].ranges) {
      int& index = best.try_emplace(r.name, -1).first->second;
      const auto have = available.find(r.name);
      if (have != available.end() && !(have->second < r.min)) index = static_cast<int>(i);
    }
  }
  int index = static_cast<int>(models_.size()) - 1;
  for (const auto& [name, i] : best) index = std::min(index, i);
  return index;
}

}  // namespace controllers
