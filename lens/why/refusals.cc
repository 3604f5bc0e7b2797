// The table of messages is asked in its order. Where the advice is to delete something in a member,
// the way that loses nothing stands first, and what is lost is said.
#include "lens/why/refusals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "api/binding.h"
#include "api/reasons.h"
#include "api/work.h"
#include "lens/why/checks.h"
#include "lens/why/expected.h"
#include "lens/why/interpretation.h"
#include "lens/why/matching.h"

namespace lens::why {
namespace {

struct Row {
  const char* words;  // In the message of the condition.
  const char* cause;  // $C is the cluster.
  const char* advice = "";
  std::string (*advise)(const Chain& chain, const kube::Object& work) = nullptr;  // Or this.
  bool says_all = false;  // The message adds nothing to the cause.
};

// Returns "the template", or also the override policies that change it in this Work's cluster.
std::string WhereItIsMade(const Chain& chain, const kube::Object& work) {
  const std::vector<std::string> overrides = OverridesOf(work, chain.asked.key.ns);
  if (overrides.empty()) return "the template";
  return absl::StrCat(
      "the template, or ", absl::StrJoin(overrides, ", "),
      overrides.size() == 1 ? ", which changes it there" : ", which change it there");
}

std::string AdviceForInvalid(const Chain& chain, const kube::Object& work) {
  const bool is_overridden = !OverridesOf(work, chain.asked.key.ns).empty();
  return absl::StrCat("change ", WhereItIsMade(chain, work),
                      is_overridden ? "" : ", or add an override for this cluster");
}

std::string AdviceForImmutable(const Chain& chain, const kube::Object& work) {
  const std::string undo = absl::StrCat("undo the change in ", WhereItIsMade(chain, work),
                                        "; or delete the object in the member, so that it is made "
                                        "again: ");
  const bool is_job = chain.asked.gvk.kind == "Job" && chain.asked.gvk.group == "batch";
  return absl::StrCat(
      undo, is_job ? "then the Job runs again there, also if it has finished" : kWhatIsLost);
}

// The first row that fits counts. Messages are those of API servers and of this program.
constexpr Row kRows[] = {
    {"by the webhook interpreter",
     "the interpreter's webhook fails, which is asked about it for $C"},
    {"by the customization interpreter", "a customization of the interpreter fails for $C"},
    {"failed calling webhook", "an admission webhook of $C does not answer",
     "see whether the webhook's server runs in the member"},
    {"could not find the requested resource",
     "$C does not serve the kind: its CustomResourceDefinition is missing",
     "install the CustomResourceDefinition in the member; the Work is tried again by itself"},
    {"no matches for kind", "$C does not serve the kind: its CustomResourceDefinition is missing",
     "install the CustomResourceDefinition in the member; the Work is tried again by itself"},
    {"Karmada will not manage this resource",
     "$C already has such an object that Karmada does not manage", "", AdviceForForeign, true},
    {"denied the request", "an admission webhook of $C refuses it",
     "change the template, add an override for this cluster, or change the member's webhook"},
    {"violates PodSecurity", "the pod security admission of $C refuses it",
     "change the template, or the labels of the namespace in the member"},
    {"ValidatingAdmissionPolicy", "an admission policy of $C refuses it",
     "change the template, or add an override for this cluster"},
    {"exceeded quota", "a ResourceQuota of $C refuses it",
     "raise the quota in the member, or ask for less"},
    {"is being terminated", "its namespace is being deleted in $C",
     "see which finalizers hold up the namespace in the member"},
    {"namespaces \"", "its namespace does not exist in $C",
     "propagate the namespace, or create it in the member"},
    {"is forbidden", "Karmada's account in $C may not write it",
     "give the account of the Cluster's Secret the right in the member"},
    {"Unauthorized", "$C refuses Karmada's credentials", "join the cluster again"},
    {"is immutable", "it changes a field that cannot be changed in $C", "", AdviceForImmutable},
    {"updates to statefulset spec", "it changes a field that cannot be changed in $C", "",
     AdviceForImmutable},
    {"is invalid", "$C refuses it as invalid", "", AdviceForInvalid},
    {"Too long", "$C refuses it as invalid", "shorten what the message names"},
    {"database space exceeded", "the database of $C is full",
     "make room in the etcd of the member (compact, defragment, then disarm its alarm); it is "
     "tried again by itself"},
    {"connection refused", "$C cannot be reached", "see whether the member's API server answers"},
    {"timed out", "$C does not answer in time", "see whether the member's API server answers"},
};

std::string WithCluster(absl::string_view text, const std::string& cluster) {
  const size_t at = text.find("$C");
  return absl::StrCat(text.substr(0, at), cluster, text.substr(at + 2));
}

// Returns "Deployment shop/web" for what has no policy of its own and follows that; "" otherwise.
std::string WhoTakesItAlong(const Chain& chain) {
  std::string claim;
  if (chain.binding == nullptr) return "";
  ClaimingPolicy(chain, *chain.binding, &claim);
  if (!claim.empty()) return "";
  for (const api::BindingSnapshot& by : api::BindingView(*chain.binding).RequiredBy()) {
    const auto found = chain.referrers.find({by.ns, by.name});
    if (found != chain.referrers.end()) {
      return api::BindingView(*found->second).Resource().Describe();
    }
  }
  return "";
}

constexpr size_t kLongestValue = 60;

// Returns where the value ends with which the text begins, such as {"a":1}, core.PodSpec{...} or
// "web": behind its closing bracket or quotation mark. npos when it has none.
size_t EndOfValue(absl::string_view text) {
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_type = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
                         c == '*' || c == '&' || c == '_';
    const bool is_bracket = c == '{' || c == '[' || c == '"';
    if (depth == 0 && !is_quoted && !is_type && !is_bracket) return absl::string_view::npos;
    if (is_quoted && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == '{' || c == '[')) ++depth;
    if (!is_quoted && (c == '}' || c == ']')) --depth;
    const bool has_begun = c == '"' || c == '}' || c == ']';
    if (has_begun && depth == 0 && !is_quoted) return i + 1;
  }
  return absl::string_view::npos;
}

}  // namespace

std::string ShortMessage(absl::string_view message) {
  constexpr absl::string_view kPrefix = "Failed to apply all manifests (0/1): ";
  constexpr absl::string_view kValue = "Invalid value: ";
  absl::ConsumePrefix(&message, kPrefix);
  std::string text;
  for (size_t at = message.find(kValue); at != absl::string_view::npos; at = message.find(kValue)) {
    const size_t begin = at + kValue.size();
    absl::StrAppend(&text, message.substr(0, begin));
    message.remove_prefix(begin);
    size_t end = EndOfValue(message);
    if (end == absl::string_view::npos) end = message.rfind(": ");
    if (end == absl::string_view::npos || end <= kLongestValue) continue;
    absl::StrAppend(&text, message[0] == '"' ? "\"…\"" : "{…}");
    message.remove_prefix(end);
  }
  return absl::StrCat(text, message);
}

Refusal ExplainRefusal(const Chain& chain, const std::string& cluster, const kube::Object& work,
                       absl::string_view message) {
  for (const Row& row : kRows) {
    if (!absl::StrContains(message, row.words)) continue;
    std::string advice = row.advise != nullptr ? row.advise(chain, work) : row.advice;
    if (advice.empty()) advice = AdviceForInterpreter(chain, message);
    return {WithCluster(row.cause, cluster), std::move(advice), row.says_all};
  }
  return {};
}

std::string AdviceForPods(absl::string_view message) {
  for (const absl::string_view words :
       {"exceeded quota", "violates PodSecurity", "failed calling webhook", "denied the request"}) {
    if (!absl::StrContains(message, words)) continue;
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& each) { return words == each.words; });
    return row->advice;
  }
  return "";
}

std::string AdviceForForeign(const Chain& chain, const kube::Object& work) {
  std::string text = api::message::TakeOverAdvice(chain.asked.gvk.kind);
  text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  if (chain.IsNamespace()) return text;
  const std::string taker = WhoTakesItAlong(chain);
  if (!taker.empty()) {
    text = absl::StrReplaceAll(
        text, {{" in the policy", absl::StrCat(" in the policy of ", taker, ", which needs it")}});
  }
  if (api::WorkView(work).PreservesResourcesOnDeletion()) {
    // Then it is not deleted.
    text = absl::StrCat(text.substr(0, text.find(';')),
                        "; it stays there when the template is deleted, as "
                        "preserveResourcesOnDeletion says");
  }
  return absl::StrCat(text,
                      ". Deleting it there instead loses what belongs to it, such as its "
                      "Pods or the data of a volume");
}

}  // namespace lens::why
