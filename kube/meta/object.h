// Any Kubernetes object: its JSON plus accessors for what every object has.
//
// Object is a value, cheap to copy (json::Value shares structure); a change to a copy never shows
// in the original. Objects in caches are handed out as ObjectPtr and never change.
#ifndef KUBE_META_OBJECT_H_
#define KUBE_META_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace kube {

struct OwnerRef {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool block_owner_deletion = false;
  json::Value ToJson() const;
};

class Object {
 public:
  Object() = default;
  explicit Object(json::Value root) : root_(std::move(root)) {}
  // Returns an object with apiVersion, kind and metadata.name (and namespace when not empty).
  static Object Make(const Gvk& gvk, const ObjectKey& key);

  const json::Value& root() const { return root_; }
  json::Value& mutable_root() { return root_; }
  bool empty() const { return root_.is_null(); }

  // Type and metadata; "" or 0 when absent. Views are valid as long as this Object is not changed.
  absl::string_view api_version() const { return root_["apiVersion"].AsString(); }
  absl::string_view kind() const { return root_["kind"].AsString(); }
  Gvk gvk() const;  // Empty parts if apiVersion is malformed.
  const json::Value& metadata() const { return root_["metadata"]; }
  absl::string_view name() const { return metadata()["name"].AsString(); }
  absl::string_view ns() const { return metadata()["namespace"].AsString(); }
  ObjectKey key() const { return {std::string(ns()), std::string(name())}; }
  absl::string_view uid() const { return metadata()["uid"].AsString(); }
  absl::string_view resource_version() const { return metadata()["resourceVersion"].AsString(); }
  int64_t generation() const { return metadata()["generation"].AsInt(); }
  bool IsDeleting() const { return !metadata()["deletionTimestamp"].AsString().empty(); }
  // Returns "Deployment default/web", for logs and messages.
  std::string Describe() const;

  const json::Value& labels() const { return metadata()["labels"]; }
  const json::Value& annotations() const { return metadata()["annotations"]; }
  absl::string_view Label(absl::string_view key) const { return labels()[key].AsString(); }
  absl::string_view Annotation(absl::string_view key) const {
    return annotations()[key].AsString();
  }
  void SetLabel(absl::string_view key, absl::string_view value);
  void SetAnnotation(absl::string_view key, absl::string_view value);
  // Removing the last label removes the map too.
  bool EraseLabel(absl::string_view key);
  bool EraseAnnotation(absl::string_view key);

  bool HasFinalizer(absl::string_view finalizer) const;
  bool AddFinalizer(absl::string_view finalizer);     // Returns whether it was missing.
  bool RemoveFinalizer(absl::string_view finalizer);  // Returns whether it was there.

  std::vector<OwnerRef> OwnerRefs() const;
  // Returns the owner with controller=true; its uid is "" when there is none.
  OwnerRef ControllerOwner() const;

  const json::Value& spec() const { return root_["spec"]; }
  const json::Value& status() const { return root_["status"]; }
  const json::Value& Get(json::Path path) const { return root_.Get(path); }
  void Set(json::Path path, json::Value v) { root_.Set(path, std::move(v)); }
  bool Erase(json::Path path) { return root_.Erase(path); }

  friend bool operator==(const Object& a, const Object& b) { return a.root_ == b.root_; }

 private:
  json::Value root_;
};

// An immutable object that caches, handlers and reconciles share.
using ObjectPtr = std::shared_ptr<const Object>;
inline ObjectPtr Share(Object o) { return std::make_shared<const Object>(std::move(o)); }

// Returns the resourceVersion as a number; numbers of one server are ordered. -1 when it is absent
// or not a number.
int64_t ResourceVersionOf(const Object& o);

// Return RFC 3339 as the API writes it: metav1.Time "2006-01-02T15:04:05Z", MicroTime with six
// decimals. (Call them as kube::FormatTime and kube::ParseTime: Abseil has functions of the same
// names, which an unqualified call finds too.)
std::string FormatTime(absl::Time t);
std::string FormatMicroTime(absl::Time t);
// Parses any RFC 3339 time whose year has four digits, also in UTC; kInvalidArgument otherwise.
absl::StatusOr<absl::Time> ParseTime(absl::string_view text);

// An item of a metav1.Condition list (Work, bindings, Cluster).
struct Condition {
  std::string type, status, reason, message;
  int64_t observed_generation = 0;  // Written only when not 0.
};
// Returns nullptr when there is no such condition.
const json::Value* FindCondition(const json::Value& conditions, absl::string_view type);
bool IsConditionTrue(const json::Value& conditions, absl::string_view type);
// Adds or replaces a condition. lastTransitionTime becomes `now` only when the status flips
// (meta.SetStatusCondition). A message longer than the API server accepts is cut. Returns whether
// anything changed.
bool SetCondition(json::Value& conditions, const Condition& condition, absl::Time now);

}  // namespace kube

#endif  // KUBE_META_OBJECT_H_
