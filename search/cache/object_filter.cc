#include "search/cache/object_filter.h"

namespace search {

bool ObjectFilter::Matches(const kube::EncodedObject& object) const {
  return labels.Matches(object.labels()) && (!also || also(object));
}

}  // namespace search
