// The checks run in the order of the template's way. The cause is the first finding that stops the
// template, what somebody wants so, such as a suspension, after what fails, unless a program does
// not run that a finding before it waits for: then that is the cause. Who would wait a moment for
// what cannot come is not told so. If nothing stops the template, the cause is the first thing that
// is waited for. What stops nothing is the cause only of a template that goes nowhere: it says why.

#include "lens/why/diagnosis.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/programs.h"
#include "api/resources.h"
#include "lens/why/agents.h"
#include "lens/why/own_kinds.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

const Finding* FirstOf(const Findings& findings, Grade grade) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.grade == grade; });
  return found == findings.end() ? nullptr : &*found;
}

// Returns what stops the template: what fails before what somebody wants so, such as a suspension.
// That a cluster is not chosen says little as long as the choice has to be made again.
const Finding* CauseAmong(const Findings& findings) {
  const Finding* wanted = nullptr;
  const Finding* awaited = FirstOf(findings, Grade::kWaiting);
  for (const Finding& finding : findings) {
    if (finding.grade != Grade::kStuck) continue;
    if (finding.is_wanted) {
      if (wanted == nullptr) wanted = &finding;
      continue;
    }
    const bool is_preliminary = finding.check == "cluster-not-chosen" && awaited != nullptr &&
                                awaited->step <= Step::kScheduling && awaited->cluster.empty();
    return is_preliminary ? awaited : &finding;
  }
  return wanted != nullptr ? wanted : awaited;
}

Findings RunChecks(const Chain& chain) {
  Findings all;
  for (const Check& check : AllChecks()) {
    for (Finding& finding : check.run(chain)) {
      if (!finding.cluster.empty() && !chain.Concerns(finding.cluster)) continue;
      // It has no further way, though a binding, for example, has the claim of its policy.
      if (finding.step != Step::kTemplate && IsAboutOwnObject(chain)) continue;
      finding.check = check.name;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

// Adds that a program does not run if that explains why nothing goes on: a finding waits for it
// before anything else stops the template. What stops it later may be of an earlier time.
void AddStoppedProgram(const Chain& chain, Findings& findings) {
  for (auto finding = findings.begin(); finding != findings.end(); ++finding) {
    if (finding->grade == Grade::kNote) continue;
    Findings stopped = CheckProgram(chain, *finding);
    if (!stopped.empty()) {
      findings.insert(finding, std::move(stopped[0]));
      return;
    }
    if (finding->grade == Grade::kStuck) return;
  }
}

// Leaves out what is waited for in vain: it comes after what stops the template there.
void DropVainWaits(Findings& findings) {
  std::set<std::string> stopped;  // Clusters; "" when nothing goes on anywhere.
  const auto is_vain = [&](const Finding& finding) {
    if (finding.grade == Grade::kStuck) stopped.insert(finding.cluster);
    return finding.grade == Grade::kWaiting && finding.advice == kWaitAMoment &&
           (stopped.count("") > 0 || stopped.count(finding.cluster) > 0);
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_vain), findings.end());
}

// Returns " (likewise in member2)" for the other clusters in which the same was found. What was
// found there for another reason is not explained by it, and needs another advice.
std::string Likewise(const Chain& chain, const Findings& findings, const Finding& cause) {
  std::vector<api::TargetCluster> same, similar, different;
  if (cause.cluster.empty() || cause.grade != Grade::kStuck) return "";
  for (const Finding& finding : findings) {
    const bool is_more = finding.check == cause.check && finding.grade == cause.grade &&
                         finding.cluster != cause.cluster && !finding.cluster.empty();
    if (!is_more) continue;
    const bool is_same = WithoutCluster(finding) == WithoutCluster(cause);
    const bool is_similar = finding.kind == cause.kind;
    std::vector<api::TargetCluster>& named = is_same ? same : is_similar ? similar : different;
    if (named.empty() || named.back().name != finding.cluster) named.push_back({finding.cluster});
  }
  std::vector<std::string> parts;
  if (!same.empty()) parts.push_back(absl::StrCat("likewise in ", ClusterList(same)));
  if (!similar.empty()) parts.push_back(absl::StrCat("similarly in ", ClusterList(similar)));
  if (!different.empty()) {
    const bool is_one = different.size() == 1;
    parts.push_back(absl::StrCat(ClusterList(different), is_one ? " refuses" : " refuse",
                                 " it for ", is_one ? "another reason: " : "other reasons: ",
                                 chain.asked.CommandFor(chain.asked.gvk, chain.asked.key),
                                 " --cluster ", different[0].name));
  }
  return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
}

// Returns whether everything was read without which nobody can say that the template has arrived.
bool CouldFollow(const Chain& chain) {
  return chain.CouldReadPolicies() && chain.CouldReadBinding() &&
         chain.CouldRead(api::Clusters().gvk) && chain.CouldRead(api::Works().gvk) &&
         chain.CouldReadMembers() && CouldJudgeOwn(chain);
}

std::string Arrival(const Chain& chain) {
  const std::vector<api::TargetCluster> targets = chain.Targets();
  if (!CouldFollow(chain)) {
    return absl::StrCat("nothing that could be read ",
                        IsAboutOwnObject(chain) ? "is wrong with " : "stops ", chain.Name());
  }
  if (IsAboutOwnObject(chain)) return OwnState(chain);
  if (targets.empty()) return absl::StrCat(chain.Name(), " is where it is meant to be: nowhere");
  return absl::StrCat(chain.Name(), " has arrived in ", ClusterList(targets));
}

// Returns what to do when it is unknown whether the template has arrived.
std::string AdviceForUnread(const Chain& chain) {
  if (!chain.CouldReadMembers()) {
    for (const api::TargetCluster& target : chain.Targets()) {
      const auto answer = chain.members.find(target.name);
      const bool answers = answer == chain.members.end() || answer->second.status.ok();
      if (answers || AgentVouches(chain, target.name)) continue;
      if (IsPull(chain, target.name)) return AdviceForAgent(chain, target.name);
    }
    return "see whether the API server of the member answers from here, and ask again";
  }
  return "ask again with the right to read that";
}

// Returns what else is true until the cause is mended, such as that a copy of the template is still
// where it is being evicted from: that ends after some time.
std::string Meanwhile(const Findings& findings, const Finding& cause) {
  for (const Finding& finding : findings) {
    if (&finding == &cause || finding.meanwhile.empty()) continue;
    // The scheduler's refusal says it itself.
    if (cause.step != Step::kScheduling) return absl::StrCat("; ", finding.meanwhile);
  }
  return "";
}

// The cause may be in what could not be read.
std::string WithUnread(std::string headline, const std::vector<std::string>& unread) {
  if (unread.empty()) return headline;
  const size_t more = unread.size() - 1;
  absl::StrAppend(&headline, " (not everything could be read: ", unread[0],
                  more > 0 ? absl::StrCat(", and ", more, " more") : "", ")");
  return headline;
}

}  // namespace

std::vector<Check> AllChecks() {
  std::vector<Check> all;
  for (const absl::Span<const Check> step :
       {TemplateChecks(), PolicyChecks(), BindingChecks(), SchedulingChecks(), WorkChecks(),
        DependencyChecks(), MemberChecks(), ArrivalChecks()}) {
    all.insert(all.end(), step.begin(), step.end());
  }
  return all;
}

std::string BriefOf(const Finding& finding) {
  if (finding.check == kProgramNotRunning) {
    return finding.waits_for == Program::kAgent
               ? absl::StrCat("the ", api::kAgent, " of ", finding.cluster, " is silent")
               : absl::StrCat(NameOf(finding.waits_for), " does not run");
  }
  static const auto& briefs = *[] {
    auto* made = new std::map<std::string, std::string>;
    for (const Check& check : AllChecks()) made->emplace(check.name, check.brief);
    return made;
  }();
  const auto found = briefs.find(finding.check);
  if (found == briefs.end()) return finding.cause;
  return absl::StrReplaceAll(found->second,
                             {{"$", finding.cluster.empty() ? "a cluster" : finding.cluster}});
}

absl::string_view StepName(Step step) {
  switch (step) {
    case Step::kTemplate:
      return "template";
    case Step::kPolicy:
      return "policy";
    case Step::kBinding:
      return "binding";
    case Step::kScheduling:
      return "scheduling";
    case Step::kDependencies:
      return "dependencies";
    case Step::kWork:
      return "work";
    case Step::kMember:
      break;
  }
  return "member";
}

absl::string_view GradeName(Grade grade) {
  switch (grade) {
    case Grade::kStuck:
      return "stuck";
    case Grade::kWaiting:
      return "waiting";
    case Grade::kNote:
      break;
  }
  return "note";
}

std::string Some(std::vector<std::string> names, size_t shown) {
  const size_t more = names.size() > shown ? names.size() - shown : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::string WithoutCluster(const Finding& finding) {
  return absl::StrReplaceAll(finding.cause, {{finding.cluster, "$"}});
}

std::string ClusterList(const std::vector<api::TargetCluster>& clusters) {
  if (clusters.empty()) return "no cluster";
  std::vector<std::string> names;
  for (const api::TargetCluster& cluster : clusters) names.push_back(cluster.name);
  return Some(std::move(names));
}

std::string AsSentence(std::string text) {
  const bool is_name = absl::StartsWith(text, "karmada") || absl::StartsWith(text, "kubectl");
  if (text.empty()) return text;
  if (!is_name) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  if (!absl::EndsWith(text, ".")) absl::StrAppend(&text, ".");
  return text;
}

Diagnosis Diagnose(const Chain& chain) {
  Diagnosis diagnosis;
  diagnosis.findings = RunChecks(chain);
  AddStoppedProgram(chain, diagnosis.findings);
  DropVainWaits(diagnosis.findings);
  diagnosis.cause = CauseAmong(diagnosis.findings);
  const bool stopped = diagnosis.cause != nullptr;
  diagnosis.arrived = !stopped && CouldFollow(chain);
  if (diagnosis.arrived && chain.Targets().empty() && !IsAboutOwnObject(chain)) {
    diagnosis.cause = FirstOf(diagnosis.findings, Grade::kNote);
  }
  diagnosis.headline = diagnosis.cause == nullptr
                           ? Arrival(chain)
                           : absl::StrCat(diagnosis.cause->cause,
                                          Likewise(chain, diagnosis.findings, *diagnosis.cause),
                                          Meanwhile(diagnosis.findings, *diagnosis.cause));
  // What stops it often says already that a member does not answer.
  diagnosis.headline =
      WithUnread(std::move(diagnosis.headline), stopped ? chain.unread : chain.UnreadWithMembers());
  if (diagnosis.cause != nullptr) {
    diagnosis.advice = diagnosis.cause->advice;
  } else if (!diagnosis.arrived) {
    diagnosis.advice = AdviceForUnread(chain);
  }
  return diagnosis;
}

}  // namespace lens::why
