#include "config/binding_schema.h"

namespace config {

Release ReleaseOfBindingSchema(const json::Value& schema) {
  const json::Value& cluster =
      schema.Get({"properties", "spec", "properties", "clusters", "items"});
  return cluster["properties"].Has("components") ? Release::kV1_19 : Release::kV1_18;
}

}  // namespace config
