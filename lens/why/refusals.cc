// The table of messages is asked in its order. Where the advice is to delete something in a member,
// the way that loses nothing stands first, and what is lost is said.

#include "lens/why/refusals.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "api/binding.h"
#include "api/reasons.h"
#include "api/work.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/expected.h"
#include "lens/why/interpretation.h"
#include "lens/why/matching.h"

namespace lens::why {
namespace {

struct Row {
  const char* words;        // In the message of the condition.
  const char* cause;        // $C is the cluster.
  const char* advice = "";  // Likewise; $NS is the template's namespace.
  // Or this, of the Work that is refused with this message.
  std::string (*advise)(const Chain& chain, const kube::Object& work,
                        absl::string_view message) = nullptr;
  bool says_all = false;  // The message adds nothing to the cause.
  // What else has to hold of the message; nullptr for nothing.
  bool (*fits)(absl::string_view message) = nullptr;
};

// Returns "the template", or also the override policies that change it in this Work's cluster.
std::string WhereItIsMade(const Chain& chain, const kube::Object& work) {
  const std::vector<std::string> overrides = OverridesOf(work, chain.asked.key.ns);
  if (overrides.empty()) return "the template";
  return absl::StrCat(
      "the template, or ", absl::StrJoin(overrides, ", "),
      overrides.size() == 1 ? ", which changes it there" : ", which change it there");
}

std::string AdviceForInvalid(const Chain& chain, const kube::Object& work,
                             absl::string_view /*message*/) {
  const bool is_overridden = !OverridesOf(work, chain.asked.key.ns).empty();
  return absl::StrCat("change ", WhereItIsMade(chain, work),
                      is_overridden ? "" : ", or add an override for this cluster");
}

// Returns whether each error of the message says that a field cannot be changed: only then would
// the manifest be accepted where there is no such object.
bool IsOnlyAboutImmutable(absl::string_view message) {
  constexpr absl::string_view kErrors[] = {
      "Required value", "Invalid value:", "Unsupported value", "Duplicate value",
      "Forbidden:",     "Not found:",     "Too long:",         "Too many:",
      "Too few:",       "Internal error:"};
  std::vector<size_t> begins;
  for (const absl::string_view error : kErrors) {
    for (size_t at = message.find(error); at != absl::string_view::npos;
         at = message.find(error, at + 1)) {
      begins.push_back(at);
    }
  }
  std::sort(begins.begin(), begins.end());
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : message.size();
    const absl::string_view error = message.substr(begins[i], end - begins[i]);
    const bool is_immutable = absl::StrContains(error, "is immutable") ||
                              absl::StrContains(error, "updates to statefulset spec");
    if (!is_immutable) return false;
  }
  return true;
}

std::string AdviceForImmutable(const Chain& chain, const kube::Object& work,
                               absl::string_view message) {
  const std::vector<std::string> overrides = OverridesOf(work, chain.asked.key.ns);
  const std::string undo = absl::StrCat(
      "undo the change in the template",
      overrides.empty()
          ? ""
          : absl::StrCat(
                ", or keep it out of the resourceSelectors of ", absl::StrJoin(overrides, ", "),
                overrides.size() == 1 ? ", which changes it there" : ", which change it there"));
  // Otherwise what is made again may be refused, too, and the object would be lost.
  if (!overrides.empty() || !IsOnlyAboutImmutable(message)) return undo;
  const bool is_job = chain.asked.gvk.kind == "Job" && chain.asked.gvk.group == "batch";
  return absl::StrCat(
      undo, "; or delete the object in $C, so that it is made again: ",
      is_job ? "then the Job runs again there, also if it has finished" : kWhatIsLost);
}

std::string AdviceForQuota(const Chain& chain, const kube::Object& /*work*/,
                           absl::string_view message) {
  constexpr absl::string_view kBefore = "exceeded quota: ";
  const size_t at = message.find(kBefore);
  if (at == absl::string_view::npos) return "raise the quota in $C, or ask for less";
  const absl::string_view name = message.substr(at + kBefore.size());
  return absl::StrCat("raise ResourceQuota ", chain.asked.key.ns, "/",
                      name.substr(0, name.find(',')), " in $C, or ask for less");
}

std::string AdviceToTakeOver(const Chain& chain, const kube::Object& work,
                             absl::string_view /*message*/) {
  return AdviceForForeign(chain, work);
}

constexpr char kWrongType[] = "$C refuses it, since a value in it is of the wrong type";

// The first row that fits counts. Messages are those of API servers and of this program.
constexpr Row kRows[] = {
    {"by the webhook interpreter",
     "the interpreter's webhook fails, which is asked about it for $C"},
    {"by the customization interpreter", "a customization of the interpreter fails for $C"},
    {"failed calling webhook", "an admission webhook of $C does not answer",
     "see whether the webhook's server runs in $C"},
    {"could not find the requested resource",
     "$C does not serve the kind: its CustomResourceDefinition is missing",
     "install the CustomResourceDefinition in $C; the Work is tried again by itself"},
    {"no matches for kind", "$C does not serve the kind: its CustomResourceDefinition is missing",
     "install the CustomResourceDefinition in $C; the Work is tried again by itself"},
    {kIsForeign, "$C already has such an object that Karmada does not manage", "", AdviceToTakeOver,
     true},
    {"denied the request", "an admission webhook of $C refuses it",
     "change the template, add an override for this cluster, or change the webhook in $C"},
    {"violates PodSecurity", "the pod security admission of $C refuses it",
     "change the template, or the labels of the namespace $NS in $C"},
    {"ValidatingAdmissionPolicy", "an admission policy of $C refuses it",
     "change the template, or add an override for this cluster"},
    {"exceeded quota", "a ResourceQuota of $C refuses it", "", AdviceForQuota},
    {kNamespaceEnds, "its namespace is being deleted in $C",
     "see which finalizers hold up the namespace $NS in $C"},
    {"namespaces \"", "its namespace does not exist in $C",
     "propagate the namespace $NS, or create it in $C", nullptr, false, SaysNoNamespace},
    {"is forbidden", "Karmada's account in $C may not write it",
     "give the account of the Cluster's Secret the right in $C"},
    {"Unauthorized", "$C refuses Karmada's credentials", "join the cluster again"},
    {"is immutable", "it changes a field that cannot be changed in $C", "", AdviceForImmutable},
    {"updates to statefulset spec", "it changes a field that cannot be changed in $C", "",
     AdviceForImmutable},
    {"cannot unmarshal", kWrongType, "", AdviceForInvalid},
    {"failed to create typed patch object", kWrongType, "", AdviceForInvalid},
    {"must be of type", kWrongType, "", AdviceForInvalid},
    {"unrecognized type: ", kWrongType, "", AdviceForInvalid},
    {"is invalid", "$C refuses it as invalid", "", AdviceForInvalid},
    {"Too long", "$C refuses it as invalid", "shorten what the message names"},
    {"database space exceeded", "the database of $C is full",
     "make room in the etcd of $C (compact, defragment, then disarm its alarm); it is "
     "tried again by itself"},
    {"connection refused", "$C cannot be reached", "see whether the API server of $C answers"},
    {"timed out", "$C does not answer in time", "see whether the API server of $C answers"},
};

// What differs where an agent applies the manifest.
constexpr Row kPullRows[] = {
    {"is forbidden", "the karmada-agent of $C may not write it",
     "give karmada-agent the right in $C; `karmada-agent permissions` prints the role that it "
     "needs, for which --template-kinds, if you give it, has to name this kind, too"},
    {"Unauthorized", "$C refuses the credentials of its karmada-agent",
     "see by which account karmada-agent reaches the API server of $C"},
};

// Of an object without a namespace no row counts that speaks of its namespace.
const Row* RowFor(const Chain& chain, const std::string& cluster, absl::string_view message) {
  const bool is_pull = IsPull(chain, cluster);
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    if (!absl::StrContains(message, row.words)) return false;
    return row.fits == nullptr || (!chain.asked.key.ns.empty() && row.fits(message));
  });
  if (found == std::end(kRows)) return nullptr;
  const auto* pulled =
      std::find_if(std::begin(kPullRows), std::end(kPullRows),
                   [&](const Row& row) { return absl::string_view(row.words) == found->words; });
  return is_pull && pulled != std::end(kPullRows) ? pulled : found;
}

// Returns the advice of the row with the names in it.
std::string AdviceOf(const Row& row, const Chain& chain, const std::string& cluster,
                     absl::string_view message) {
  const auto work = chain.works.find(cluster);
  const kube::Object none;
  std::string advice = row.advice;
  if (row.advise != nullptr) {
    advice = row.advise(chain, work == chain.works.end() ? none : *work->second, message);
  }
  if (advice.empty()) advice = AdviceForInterpreter(chain, message);
  return absl::StrReplaceAll(advice, {{"$C", cluster}, {"$NS", chain.asked.key.ns}});
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

bool SaysNoNamespace(absl::string_view message) {
  constexpr absl::string_view kBefore = "namespaces \"", kAfter = "\" not found";
  for (size_t at = message.find(kBefore); at != absl::string_view::npos;
       at = message.find(kBefore)) {
    message.remove_prefix(at + kBefore.size());
    const size_t end = message.find('"');
    if (end == absl::string_view::npos) return false;
    if (absl::StartsWith(message.substr(end), kAfter)) return true;
  }
  return false;
}

namespace {

// Returns whether the cluster has shown the template itself, and not a copy of it.
bool ShowsTemplate(const Chain& chain, const std::string& cluster) {
  const auto answer = chain.members.find(cluster);
  return chain.object != nullptr && answer != chain.members.end() &&
         answer->second.object != nullptr && !chain.object->uid().empty() &&
         answer->second.object->uid() == chain.object->uid();
}

Refusal ClusterIsControlPlane(const std::string& cluster) {
  return {absl::StrCat(cluster, " is the control plane itself: the object there is the template"),
          absl::StrCat("do not set conflictResolution: Overwrite, by which the template would be "
                       "deleted together with the Cluster. End the agent of ",
                       cluster, ", and take the Cluster out: kubectl delete cluster ", cluster),
          true, "the control plane itself"};
}

}  // namespace

Refusal ExplainRefusal(const Chain& chain, const std::string& cluster, absl::string_view message) {
  const Row* row = RowFor(chain, cluster, message);
  if (row == nullptr) {
    Refusal unknown;
    unknown.kind = absl::StrReplaceAll(ShortMessage(message), {{cluster, "$C"}});
    return unknown;
  }
  if (absl::StrContains(message, kIsForeign) && ShowsTemplate(chain, cluster)) {
    return ClusterIsControlPlane(cluster);
  }
  return {absl::StrReplaceAll(row->cause, {{"$C", cluster}}),
          AdviceOf(*row, chain, cluster, message), row->says_all, row->cause};
}

std::string CauseOfRefusal(const Chain& chain, const std::string& cluster,
                           absl::string_view message) {
  const Row* row = RowFor(chain, cluster, message);
  if (row == nullptr) return ShortMessage(message);
  if (absl::StrContains(message, kIsForeign) && ShowsTemplate(chain, cluster)) {
    return ClusterIsControlPlane(cluster).cause;
  }
  const std::string cause = absl::StrReplaceAll(row->cause, {{"$C", cluster}});
  return row->says_all ? cause : absl::StrCat(cause, " (", ShortMessage(message), ")");
}

bool IsAboutContent(absl::string_view message) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) {
    return absl::StrContains(message, each.words) && each.fits == nullptr;
  });
  return row != std::end(kRows) &&
         (row->advise == AdviceForInvalid || row->advise == AdviceForImmutable);
}

std::string AdviceForPods(const Chain& chain, const std::string& cluster,
                          absl::string_view message) {
  for (const absl::string_view words :
       {"exceeded quota", "violates PodSecurity", "failed calling webhook", "denied the request"}) {
    if (!absl::StrContains(message, words)) continue;
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& each) { return words == each.words; });
    return AdviceOf(*row, chain, cluster, message);
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
    text = absl::StrCat(text.substr(0, text.find(", and from then on")),
                        ", and it stays there when the template is deleted, as "
                        "preserveResourcesOnDeletion says");
  }
  if (chain.asked.gvk.kind == "CustomResourceDefinition") {
    return absl::StrCat(text,
                        ". Versions that only the definition there has are served no longer then, "
                        "and objects stored in them are lost to everybody who reads them: add the "
                        "version that is missing to the definition there instead");
  }
  return absl::StrCat(text,
                      ". Deleting it there instead loses what belongs to it, such as its "
                      "Pods or the data of a volume");
}

}  // namespace lens::why
