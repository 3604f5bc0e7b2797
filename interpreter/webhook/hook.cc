#include "interpreter/webhook/hook.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "base/enumerated.h"

namespace interpreter::webhook {

namespace {

// InterpretComponent is missing: it is newer than this dialect.
constexpr auto kExploreNames = base::Enumerate<Operation>({
    {Operation::kInterpretReplica, "ExploreReplica"},
    {Operation::kInterpretStatus, "ExploreStatus"},
    {Operation::kPrune, "ExplorePacking"},
    {Operation::kReviseReplica, "ExploreReplicaRevising"},
    {Operation::kRetain, "ExploreRetaining"},
    {Operation::kAggregateStatus, "ExploreStatusAggregating"},
    {Operation::kInterpretHealth, "ExploreHealthy"},
    {Operation::kInterpretDependency, "ExploreDependencies"},
});

bool Lists(const std::vector<std::string>& texts, absl::string_view wanted) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text == "*" || text == wanted; });
}

// Returns whether the pattern matches an object itself, as in admission rules: "pods", "*",
// "pods/*" and "*/*" do, "pods/log" does not.
bool NamesResource(absl::string_view pattern, absl::string_view plural) {
  const size_t slash = pattern.find('/');
  if (slash != absl::string_view::npos && pattern.substr(slash) != "/*") return false;
  const absl::string_view resource = pattern.substr(0, slash);
  return resource == "*" || resource == plural;
}

}  // namespace

absl::string_view OperationNameIn(Dialect dialect, Operation op) {
  if (dialect == Dialect::kInterpreterContext) {
    return op == Operation::kPrune ? "" : OperationName(op);
  }
  return kExploreNames.TextOf(op);
}

bool KindPattern::NeedsResourceOf(const kube::Gvk& gvk) const {
  const auto any_resource = [](const std::string& r) { return r == "*" || r == "*/*"; };
  const bool open =
      scope == Scope::kAny && std::any_of(resources.begin(), resources.end(), any_resource);
  return Lists(groups, gvk.group) && Lists(versions, gvk.version) && kinds.empty() && !open;
}

bool KindPattern::Matches(const kube::Gvk& gvk, const ResourceLookup& lookup) const {
  if (!Lists(groups, gvk.group) || !Lists(versions, gvk.version)) return false;
  if (!kinds.empty()) return Lists(kinds, gvk.kind);
  if (!NeedsResourceOf(gvk)) return true;
  const std::optional<kube::Resource> served = lookup ? lookup(gvk) : std::nullopt;
  if (!served.has_value()) return false;
  if (scope != Scope::kAny && (scope == Scope::kNamespaced) != served->namespaced) return false;
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& pattern) {
    return NamesResource(pattern, served->plural);
  });
}

bool AnswerAlike(const Hook& a, const Hook& b) {
  Hook like_b = a;
  like_b.timeout = b.timeout;
  like_b.client.ca_pem = b.client.ca_pem;
  like_b.ignores_failures = b.ignores_failures;
  like_b.unusable = b.unusable;
  return like_b == b;
}

}  // namespace interpreter::webhook
