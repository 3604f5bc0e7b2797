// What changes in the members while karmada-search is read: steps, each of which is a list of
// changes, one after the other (workloads/*.yaml).
//
//   steps:
//   - [member1 create one/a, member2 create one/a, member1 update one/a, member1 delete one/a]
//   - [member1 recreate one/b, member2 churn 12]
//
// "recreate" deletes and creates without a pause; "churn" is so many changes of six names in two
// namespaces, which depend on the step alone. No two states of an object are equal.
#ifndef TESTS_PROVE_SEARCH_SEARCH_WORKLOAD_H_
#define TESTS_PROVE_SEARCH_SEARCH_WORKLOAD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace prove {

struct MemberChange {
  enum class Kind { kCreate, kUpdate, kDelete, kRecreate } kind = Kind::kCreate;
  std::string member;
  std::string ns, name;
  int pause_ms = 0;  // Before it.
};

using SearchStep = std::vector<MemberChange>;
struct SearchWorkload {
  std::vector<SearchStep> steps;
};
absl::StatusOr<SearchWorkload> ReadSearchWorkload(const std::string& path);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_SEARCH_WORKLOAD_H_
