// Which clusters a request is for.
#ifndef SEARCH_CACHE_CLUSTER_CHOICE_H_
#define SEARCH_CACHE_CLUSTER_CHOICE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace search {

// All clusters, one by its name, or those that a condition selects, also of clusters that join
// later. A value.
class ClusterChoice {
 public:
  using Condition = std::function<bool(absl::string_view cluster)>;

  ClusterChoice() = default;  // All.
  // "" is all. Implicit, because most callers have a name.
  ClusterChoice(std::string name) : name_(std::move(name)) {}            // NOLINT
  ClusterChoice(const char* name) : ClusterChoice(std::string(name)) {}  // NOLINT

  // Leaves of the choice what the condition selects, which may be called on any thread.
  void Narrow(Condition condition) { condition_ = std::move(condition); }

  // Returns the only cluster that may be selected; "" when any may.
  const std::string& name() const { return name_; }

  bool Selects(absl::string_view cluster) const {
    return (name_.empty() || cluster == name_) && (!condition_ || condition_(cluster));
  }

 private:
  std::string name_;
  Condition condition_;
};

}  // namespace search

#endif  // SEARCH_CACHE_CLUSTER_CHOICE_H_
