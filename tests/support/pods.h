// The kind that most tests of kube/ use.
#ifndef TESTS_SUPPORT_PODS_H_
#define TESTS_SUPPORT_PODS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

namespace tests {

inline const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};

// Returns a pod in namespace "ns"; version 0 and uid "" mean absent.
inline kube::Object Pod(const std::string& name, int64_t version = 0, const std::string& uid = "") {
  kube::Object pod = kube::Object::Make(kPods.gvk, {"ns", name});
  if (version > 0) pod.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
  if (!uid.empty()) pod.Set({"metadata", "uid"}, uid);
  return pod;
}

}  // namespace tests

#endif  // TESTS_SUPPORT_PODS_H_
