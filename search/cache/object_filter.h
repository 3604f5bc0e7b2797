// Which objects a request is for.
#ifndef SEARCH_CACHE_OBJECT_FILTER_H_
#define SEARCH_CACHE_OBJECT_FILTER_H_

#include <functional>

#include "kube/cache/encoded_object.h"
#include "kube/meta/selector.h"

namespace search {

// Labels are evaluated on the values that objects keep.
struct ObjectFilter {
  kube::LabelSelector labels;
  // A further condition, such as a field selector (kube::server::FieldMatcher). Optional; it may be
  // called on any thread.
  std::function<bool(const kube::EncodedObject&)> also;

  bool empty() const { return labels.MatchesEverything() && !also; }
  bool Matches(const kube::EncodedObject& object) const;
};

}  // namespace search

#endif  // SEARCH_CACHE_OBJECT_FILTER_H_
