#include "cmd/interpret/result_warnings.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/spelling.h"
#include "interpreter/typed_results.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using Texts = std::vector<std::string>;

bool IsTable(const lua::Value& value) {
  return value.type == lua::Value::Type::kTable && !value.shapeless;
}

void AddReplicas(const json::Value& replicas, Texts& texts) {
  if (!replicas.is_number()) return;
  const double given = replicas.AsDouble();
  const double whole = std::trunc(given);
  if (given != whole) {
    texts.push_back(absl::StrCat("returned ", json::Write(replicas), " replicas, which count as ",
                                 json::Write(json::Value(static_cast<int64_t>(whole)))));
  }
  if (whole < 0) {
    texts.push_back(absl::StrCat("returned ", json::Write(replicas),
                                 " replicas, but nothing can have less than none"));
  }
}

void AddUnknown(const std::vector<interpreter::UnknownMember>& members, Texts& texts) {
  for (const interpreter::UnknownMember& member : members) {
    const std::vector<std::string> known(member.known.begin(), member.known.end());
    texts.push_back(absl::StrCat("returned a field that does not exist and is left out: ",
                                 member.path, base::DidYouMean(member.name, known)));
  }
}

}  // namespace

std::vector<std::string> WarningsOf(Operation op, absl::Span<const lua::Value> results) {
  Texts texts;
  if (op == Operation::kInterpretReplica) {
    AddReplicas(results[0].json, texts);
    if (IsTable(results[1])) AddUnknown(interpreter::UnknownInRequirements(results[1].json), texts);
  }
  if (!IsTable(results[0])) return texts;
  if (op == Operation::kInterpretDependency) {
    AddUnknown(interpreter::UnknownInDependencies(results[0].json), texts);
  }
  if (op == Operation::kInterpretComponent) {
    AddUnknown(interpreter::UnknownInComponents(results[0].json), texts);
    for (const json::Value& component : results[0].json.items()) {
      AddReplicas(component["replicas"], texts);
    }
  }
  return texts;
}

}  // namespace cmd::interpret
