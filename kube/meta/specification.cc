#include "kube/meta/specification.h"

namespace kube {
namespace {

// Returns whether only the status was written, for a kind without status subresource: the server
// then raises the generation by one, as for a change of the specification.
bool OnlyStatusWritten(const Object& before, const Object& after) {
  if (after.generation() != before.generation() + 1 || before.status() == after.status()) {
    return false;
  }
  json::Value same = SpecificationOf(after);
  same.Set({"metadata", "generation"}, before.generation());
  return same == SpecificationOf(before);
}

}  // namespace

json::Value SpecificationOf(const Object& object) {
  json::Value specification = object.root();
  specification.Erase("status");
  specification.Erase({"metadata", "managedFields"});
  specification.Erase({"metadata", "resourceVersion"});
  return specification;
}

bool SpecificationChanged(const Object& before, const Object& after) {
  return SpecificationOf(before) != SpecificationOf(after) && !OnlyStatusWritten(before, after);
}

}  // namespace kube
