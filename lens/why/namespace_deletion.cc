// Each condition that holds up a deletion has a row, the one first without which the others say
// little: what cannot be discovered cannot be deleted, and what is not deleted remains. The advice
// is that of the first row that holds; the texts are those of all. Finalizers are read out of the
// message, since nothing else names them.

#include "lens/why/namespace_deletion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/programs.h"
#include "lens/why/own_deletions.h"

namespace lens::why {
namespace {

constexpr char kFinalizersRemain[] = "NamespaceFinalizersRemaining";

struct Row {
  const char* condition;
  const char* advice;  // "" where the finalizers of the message decide.
};

constexpr Row kRows[] = {
    {"NamespaceDeletionDiscoveryFailure",
     "bring back what serves the API groups that the message names, or delete their APIServices if "
     "nothing serves them any more (kubectl get apiservices$C shows which do not answer); the "
     "namespace does not end before"},
    {"NamespaceDeletionGroupVersionParsingFailure",
     "mend what the message names$C; it is tried again by itself"},
    {"NamespaceDeletionContentFailure",
     "mend what the message says$C; it is tried again by itself"},
    {kFinalizersRemain, ""},
    {"NamespaceContentRemaining",
     "see why the objects that the message counts do not go$C; the rest happens by itself"},
};

// Returns the finalizers that "Some content in the namespace has finalizers remaining: example.io/a
// in 1 resource instances, example.io/b in 2 resource instances" names.
std::vector<std::string> FinalizersIn(absl::string_view message) {
  constexpr absl::string_view kBefore = "finalizers remaining: ";
  std::vector<std::string> names;
  const size_t at = message.find(kBefore);
  if (at == absl::string_view::npos) return names;
  for (const absl::string_view part : absl::StrSplit(message.substr(at + kBefore.size()), ", ")) {
    names.emplace_back(part.substr(0, part.find(' ')));
  }
  return names;
}

// Returns whether one of Karmada's programs takes the finalizer off what the namespace contains:
// none does from objects of another kind than those that it puts it on. A Namespace that does not
// say what remains may contain such objects.
bool IsTakenByKarmada(const kube::Object& space, absl::string_view finalizer) {
  const std::string resource = ResourceWithFinalizer(finalizer);
  const json::Value* remains =
      kube::FindCondition(space.status()["conditions"], "NamespaceContentRemaining");
  const bool is_known = remains != nullptr && (*remains)["status"].AsString() == "True";
  return !resource.empty() && (!is_known || absl::StrContains((*remains)["message"].AsString(),
                                                              absl::StrCat(resource, " has ")));
}

// Says who has to take the finalizers off what the namespace contains. In a member no program of
// Karmada's does, but the member's own control plane, if it is one.
void ExplainFinalizers(const kube::Object& space, absl::string_view message,
                       absl::string_view cluster, NamespaceHold& hold) {
  const std::string where = cluster.empty() ? "" : absl::StrCat(" in ", cluster);
  std::vector<std::string> foreign;
  for (const std::string& finalizer : FinalizersIn(message)) {
    if (cluster.empty() && IsTakenByKarmada(space, finalizer)) {
      hold.waits_for_karmada = true;
    } else {
      foreign.push_back(finalizer);
    }
  }
  std::vector<std::string> parts;
  if (hold.waits_for_karmada) {
    parts.push_back(absl::StrCat("see whether ", api::kControllerManager,
                                 " runs, and what its log says of objects of the namespace; do not "
                                 "take its finalizers off, for "
                                 "what it has put into clusters would stay there"));
  }
  if (!foreign.empty()) {
    parts.push_back(absl::StrCat("see", where, " which program sets ",
                                 absl::StrJoin(foreign, " and "),
                                 ", and why it does not take it off the objects of the namespace"));
  }
  hold.advice = absl::StrJoin(parts, "; and ");
}

}  // namespace

bool IsEmptied(const kube::Object& space) {
  const auto finalizers = space.spec()["finalizers"].items();
  return space.IsDeleting() &&
         std::none_of(finalizers.begin(), finalizers.end(), [](const json::Value& finalizer) {
           return finalizer.AsString() == "kubernetes";
         });
}

NamespaceHold HoldOf(const kube::Object& space, absl::string_view cluster) {
  NamespaceHold hold;
  if (space.kind() != "Namespace" || !space.IsDeleting() || IsEmptied(space)) return hold;
  const std::string where = cluster.empty() ? "" : absl::StrCat(" in ", cluster);
  std::vector<std::string> texts;
  for (const Row& row : kRows) {
    const json::Value* condition = kube::FindCondition(space.status()["conditions"], row.condition);
    if (condition == nullptr || (*condition)["status"].AsString() != "True") continue;
    std::string message = (*condition)["message"].ToString();
    if (absl::EndsWith(message, ".")) message.pop_back();
    if (message.empty()) continue;
    const bool is_first = texts.empty();
    const bool is_of_finalizers = absl::string_view(row.condition) == kFinalizersRemain;
    if (is_of_finalizers) {
      const std::string before = hold.advice;
      ExplainFinalizers(space, message, cluster, hold);
      if (!is_first) hold.advice = before;
    } else if (is_first) {
      hold.advice = absl::StrReplaceAll(row.advice, {{"$C", where}});
    }
    texts.push_back(std::move(message));
  }
  hold.text = absl::StrJoin(texts, "; ");
  return hold;
}

}  // namespace lens::why
