// What of the answers recorded from upstream's interpreter (tests/data/upstream) is deliberately
// different here.
#ifndef TESTS_SUPPORT_UPSTREAM_ANSWERS_H_
#define TESTS_SUPPORT_UPSTREAM_ANSWERS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace tests {

// Where an answer differs from upstream's on purpose (docs/differences.md): fields of the result,
// for which any value is right here. The cases in tests/data/native say what they are.
struct Deliberate {
  absl::string_view operation, kind;
  std::vector<absl::string_view> path;
};

inline const std::vector<Deliberate>& DeliberateDifferences() {
  static const auto& all = *new std::vector<Deliberate>{
      // API servers refuse Failed without FailureTarget, Complete without SuccessCriteriaMet, both
      // while a pod is at work or without their times, and counters that decrease.
      {"AggregateStatus", "Job", {"status", "conditions"}},
      {"AggregateStatus", "Job", {"status", "startTime"}},
      {"AggregateStatus", "Job", {"status", "completionTime"}},
      {"AggregateStatus", "Job", {"status", "succeeded"}},
      {"AggregateStatus", "Job", {"status", "failed"}},
      // Tools wait for them. (Upstream's StatefulSet never has observed a generation while it has
      // members, but for some that are younger than their template.)
      {"AggregateStatus", "Deployment", {"status", "conditions"}},
      {"InterpretStatus", "Deployment", {"conditions"}},
      {"AggregateStatus", "StatefulSet", {"status", "observedGeneration"}},
  };
  return all;
}

// Returns the answer to the request without what may differ.
inline json::Value WithoutDeliberate(const json::Value& request, json::Value answer) {
  for (const Deliberate& one : DeliberateDifferences()) {
    if (request["operation"] != one.operation || request["object"]["kind"] != one.kind) continue;
    const json::Path parent(one.path.data(), one.path.size() - 1);
    if (answer.Get(parent).is_object()) answer.Erase(one.path);
  }
  return answer;
}

// Returns whether the whole answer to the request is another one. Of this StatefulSet upstream
// finds that its generation has been observed, and writes all its counters, which are 0; here the
// status stays as it is, because its cluster has an older template.
inline bool AnswersAnother(const json::Value& request) { return request["id"].AsInt() == 4939; }

}  // namespace tests

#endif  // TESTS_SUPPORT_UPSTREAM_ANSWERS_H_
