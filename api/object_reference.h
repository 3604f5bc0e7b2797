// The reference to a template that bindings carry in spec.resource.
#ifndef API_OBJECT_REFERENCE_H_
#define API_OBJECT_REFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "api/known_fields.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// work/v1alpha2 ObjectReference. Empty members are absent in JSON.
struct ObjectReference {
  std::string api_version, kind, ns, name, uid, resource_version;

  // Returns a reference to `object` as it is now, with uid and resourceVersion.
  static ObjectReference Of(const kube::Object& object);
  static ObjectReference FromJson(const json::Value& reference);
  json::Value ToJson() const;
  // Returns the same with what the reference that it replaces has besides (api/known_fields.h).
  json::Value ToJson(const json::Value& held) const;

  // The parts are empty when apiVersion is malformed.
  kube::Gvk gvk() const;
  kube::ObjectKey key() const { return {ns, name}; }
  // Returns "Deployment default/web".
  std::string Describe() const;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

// Returns the field of that name, which is an ObjectReference.
KnownField ReferenceField(absl::string_view name);

}  // namespace api

#endif  // API_OBJECT_REFERENCE_H_
