// A kind as managedFields and server-side apply know it, and the versions in which its objects may
// have been written.
#ifndef KUBE_SERVER_FIELDS_FIELD_VERSIONS_H_
#define KUBE_SERVER_FIELDS_FIELD_VERSIONS_H_

#include <string>
#include <utility>

#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/server/fields/field_type.h"

namespace kube::server {

// One version of a kind.
struct FieldKind {
  Gvk gvk;
  FieldType type;
  bool custom = false;              // Its objects are custom resources.
  bool status_subresource = false;  // Writes of the object itself leave its status alone.
};

// The versions of a kind. This class knows one; a server whose kinds have several overrides the
// functions. Not thread-safe: there is one for each write.
class FieldVersions {
 public:
  // `own` is the version that is written.
  explicit FieldVersions(FieldKind own) : own_(std::move(own)) {}
  virtual ~FieldVersions() = default;

  const FieldKind& own() const { return own_; }
  // Returns nullptr when the version is not served (any more). The address of own() stands for the
  // version that is written.
  virtual const FieldKind* Find(const std::string& api_version) {
    return api_version == own_.gvk.ApiVersion() ? &own_ : nullptr;
  }
  // REQUIRES: both come from Find().
  virtual json::Value Convert(const FieldKind& /*from*/, const FieldKind& /*to*/,
                              json::Value value) {
    return value;
  }

 private:
  const FieldKind own_;
};

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_FIELD_VERSIONS_H_
