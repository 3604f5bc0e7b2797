// Two directions. ReflectCounters writes a member's status as the Work carries it: the counters,
// and two generations that say how current they are. AggregateCounters adds up those of all members
// and moves the template's observedGeneration only when every member has passed the gate; until
// then it stays at its old value, so that a rollout is never reported as done too early. A template
// whose status says all this already is returned unchanged, and nothing is written. Wrong types are
// errors that name the cluster; no state.

#include "interpreter/native/workload_status.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "base/status.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

constexpr size_t kMaxCounters = 8;
using Sums = std::array<int64_t, kMaxCounters>;

constexpr absl::string_view kObserved = "observedGeneration";
constexpr absl::string_view kGeneration = "generation";
constexpr absl::string_view kTemplateGeneration = "resourceTemplateGeneration";

// Parses a decimal int64 as Go does, with Go's errors.
absl::StatusOr<int64_t> ParseGeneration(absl::string_view text) {
  absl::string_view digits = text;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
  const bool is_number =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  int64_t generation = 0;
  // SimpleAtoi alone would accept white space around the number, which Go refuses.
  if (is_number && absl::SimpleAtoi(text, &generation)) return generation;
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.ParseInt: parsing \"", text,
                   "\": ", is_number ? "value out of range" : "invalid syntax"));
}

absl::StatusOr<int64_t> TemplateGenerationOf(const kube::Object& object) {
  return ParseGeneration(object.Annotation(api::kTemplateGenerationAnnotation));
}

void SetCounter(json::Value& status, const Counter& counter, int64_t value) {
  if (counter.always) {
    status.Set(counter.name, value);
  } else {
    SetOrOmit(status, counter.name, value);
  }
}

struct Totals {
  Sums sums{};
  bool all_up_to_date = true;
};

absl::StatusOr<Totals> AddUp(const AggregatedItems& items, absl::Span<const Counter> counters,
                             int64_t template_generation, GenerationGate gate) {
  Totals totals;
  for (const json::Value& item : items.items()) {
    if (item["status"].is_null()) {
      totals.all_up_to_date = false;
      continue;
    }
    Fields status(item["status"], "status");
    for (size_t i = 0; i < counters.size(); ++i) totals.sums[i] += status.Int(counters[i].name);
    if (!RunsGeneration(item, status, template_generation, gate)) totals.all_up_to_date = false;
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
  }
  return totals;
}

}  // namespace

bool RunsGeneration(const json::Value& item, Fields& status, int64_t template_generation,
                    GenerationGate gate) {
  const int64_t observed = status.Int64(kObserved);
  const bool sees_own =
      observed >= status.Int64(kGeneration) || (gate == GenerationGate::kTemplateOrHealthy &&
                                                observed == 0 && item["health"] == api::kHealthy);
  return sees_own && status.Int64(kTemplateGeneration) >= template_generation;
}

json::Value NamesOf(absl::Span<const Counter> counters) {
  json::Value names = json::Value::Object({{kGeneration, false}, {kTemplateGeneration, false}});
  for (const Counter& counter : counters) names.Set(counter.name, counter.always);
  return names;
}

absl::StatusOr<json::Value> ReflectCounters(const kube::Object& object, const json::Value& names) {
  ASSIGN_OR_RETURN(const int64_t template_generation, TemplateGenerationOf(object));
  Fields root(object.root(), "");
  Fields status = root.In("status");
  const int64_t generation = root.In("metadata").Int64(kGeneration);
  std::vector<json::Member> out;
  out.reserve(names.size());
  for (const json::Member& name : names.members()) {
    const bool always = name.value.AsBool();
    const int64_t value = name.name() == kGeneration           ? generation
                          : name.name() == kTemplateGeneration ? template_generation
                          : name.name() == kObserved           ? status.Int64(kObserved)
                                                               : status.Int(name.name());
    if (value == 0 && !always) continue;
    out.push_back(name);  // Shares the text of the name.
    out.back().value = value;
  }
  RETURN_IF_ERROR(root.error());
  return json::Value::OfMembers(std::move(out));
}

absl::StatusOr<kube::Object> AggregateCounters(const kube::Object& object,
                                               const AggregatedItems& items,
                                               absl::Span<const Counter> counters,
                                               GenerationGate gate) {
  Fields root(object.root(), "");
  Fields old = root.In("status");
  const int64_t generation = root.In("metadata").Int64(kGeneration);
  ASSIGN_OR_RETURN(const Totals totals, AddUp(items, counters, generation, gate));
  const int64_t observed = totals.all_up_to_date ? generation : old.Int64(kObserved);
  bool changed = observed != old.Int64(kObserved);
  for (size_t i = 0; i < counters.size(); ++i) {
    changed |= totals.sums[i] != old.Int(counters[i].name);
  }
  RETURN_IF_ERROR(root.error());
  if (!changed) return object;

  kube::Object out = object;
  json::Value& status = out.mutable_root().Mutable("status");
  if (!status.is_object()) status = json::Value::Object();
  for (size_t i = 0; i < counters.size(); ++i) SetCounter(status, counters[i], totals.sums[i]);
  SetOrOmit(status, kObserved, observed);
  return out;
}

}  // namespace interpreter::native
