#include "tests/stories/field_owners.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tests {
namespace {

bool IsLeft(const std::string& path, const std::set<std::string>& left) {
  for (const std::string& one : left) {
    if (path == one) return true;
    if (absl::StartsWith(path, absl::StrCat(one, "."))) return true;
    if (absl::StartsWith(path, absl::StrCat(one, "["))) return true;
  }
  return false;
}

}  // namespace

void FieldOwners::MemberWrote(const json::Value& before, const json::Value& after) {
  for (FieldChange& change : ChangedFields(Written(before), Written(after))) {
    of_member_.insert(std::move(change.path));
  }
}

std::vector<FieldChange> FieldOwners::ControlPlaneWrote(const json::Value& before,
                                                        const json::Value& after,
                                                        const std::set<std::string>& left) {
  std::vector<FieldChange> taken;
  for (FieldChange& change : ChangedFields(Written(before), Written(after))) {
    const bool was_of_member = of_member_.erase(change.path) > 0;
    if (was_of_member && !IsLeft(change.path, left)) taken.push_back(std::move(change));
  }
  return taken;
}

json::Value Written(const json::Value& object) {
  json::Value written = object;
  if (!written.is_object()) return written;
  written.Erase("status");
  for (const absl::string_view name :
       {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
        "managedFields", "resourceVersion", "uid"}) {
    written.Erase({"metadata", name});
  }
  return written;
}

}  // namespace tests
