// Tells which selectors of policies select nothing. Those that some object's claim speaks for need
// not be asked about.
#ifndef LENS_SERVE_DEAD_SELECTORS_H_
#define LENS_SERVE_DEAD_SELECTORS_H_

#include "base/clock.h"
#include "base/json.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "lens/serve/views.h"

namespace lens::serve {

// Asks the control plane about some selectors, one after the other. Not thread-safe.
class DeadSelectors {
 public:
  // REQUIRES: the arguments outlive this object.
  DeadSelectors(const Asked& asked, const kube::Discovery& served);

  // Returns whether there is nothing that the selector of the policy (`json`) selects; null when
  // that may not be read, or when too much has been asked already.
  json::Value IsDead(const json::Value& json, const kube::Object& policy);

 private:
  const Asked& asked_;
  const kube::Discovery& served_;
  const base::SteadyTime end_;
  size_t count_ = 0;
};

}  // namespace lens::serve

#endif  // LENS_SERVE_DEAD_SELECTORS_H_
