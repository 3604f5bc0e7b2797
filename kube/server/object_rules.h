// What the rules for metadata have to know about a kind.
#ifndef KUBE_SERVER_OBJECT_RULES_H_
#define KUBE_SERVER_OBJECT_RULES_H_

#include "kube/meta/names.h"

namespace kube::server {

struct ObjectRules {
  enum class NameRule { kSubdomain, kLabel, kPathSegment, kServiceName };
  // Which changes raise metadata.generation.
  enum class Generation { kNone, kSpec, kAllButMetadata };

  kube::Resource resource;
  NameRule name_rule = NameRule::kSubdomain;
  Generation generation = Generation::kNone;
  bool status_subresource = false;
  // True if metadata.managedFields is stored; else it is accepted and dropped.
  bool keeps_managed_fields = false;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_OBJECT_RULES_H_
