// The checks run in the order of the template's way. The cause is the first finding that stops the
// template, unless a program does not run that a finding before it waits for: then that is the
// cause. If nothing stops the template, the cause is the first thing that is waited for. What stops
// nothing is the cause only of a template that goes nowhere: it says why.
#include "lens/why/diagnosis.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resources.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

constexpr size_t kClustersShown = 5;

const Finding* FirstOf(const Findings& findings, Grade grade) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.grade == grade; });
  return found == findings.end() ? nullptr : &*found;
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

// Returns whether everything was read without which nobody can say that the template has arrived.
bool CouldFollow(const Chain& chain) {
  return chain.CouldReadPolicies() && chain.CouldReadBinding() &&
         chain.CouldRead(api::Clusters().gvk) && chain.CouldRead(api::Works().gvk) &&
         chain.CouldReadMembers();
}

std::string Arrival(const Chain& chain) {
  const std::vector<api::TargetCluster> targets = chain.Targets();
  if (!CouldFollow(chain)) {
    return absl::StrCat("nothing that could be read stops ", chain.Name());
  }
  if (targets.empty()) return absl::StrCat(chain.Name(), " is where it is meant to be: nowhere");
  return absl::StrCat(chain.Name(), " has arrived in ", ClusterList(targets));
}

// Returns what to do when it is unknown whether the template has arrived.
std::string AdviceForUnread(const Chain& chain) {
  if (!chain.CouldReadMembers()) {
    return "see whether the API server of the member answers from here, and ask again";
  }
  return "ask again with the right to read that";
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
        DependencyChecks(), MemberChecks()}) {
    all.insert(all.end(), step.begin(), step.end());
  }
  return all;
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

std::string ClusterList(const std::vector<api::TargetCluster>& clusters) {
  if (clusters.empty()) return "no cluster";
  std::vector<std::string> names;
  for (const api::TargetCluster& cluster : clusters) names.push_back(cluster.name);
  const size_t more = names.size() > kClustersShown ? names.size() - kClustersShown : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

Diagnosis Diagnose(const Chain& chain) {
  Diagnosis diagnosis;
  diagnosis.findings = RunChecks(chain);
  AddStoppedProgram(chain, diagnosis.findings);
  for (const Grade grade : {Grade::kStuck, Grade::kWaiting}) {
    if (diagnosis.cause == nullptr) diagnosis.cause = FirstOf(diagnosis.findings, grade);
  }
  const bool stopped = diagnosis.cause != nullptr;
  diagnosis.arrived = !stopped && CouldFollow(chain);
  if (diagnosis.arrived && chain.Targets().empty()) {
    diagnosis.cause = FirstOf(diagnosis.findings, Grade::kNote);
  }
  diagnosis.headline = diagnosis.cause == nullptr ? Arrival(chain) : diagnosis.cause->cause;
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
