// Finds out from leases and messages whether Karmada's programs run.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/leadership.h"
#include "api/programs.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"

namespace lens::why {
namespace {

const char* LeaseOf(Program program) {
  switch (program) {
    case Program::kControllerManager:
      return api::kControllerManager;
    case Program::kScheduler:
      return api::kScheduler;
    default:
      return "";
  }
}

}  // namespace

std::string AdviceForRefusal(absl::string_view message) {
  if (absl::StrContains(message, "whose binding has the same name")) {
    return "rename one of the two, and have its policy select it under the new name; or have "
           "policies select only one, and delete the binding of the other, by which it is lost in "
           "the members";
  }
  if (absl::StrContains(message, "failed calling webhook")) {
    return "see whether karmada-webhook runs and can be reached; it is tried again by itself";
  }
  if (absl::StrContains(message, "quota")) {
    return "raise the quota, or ask for less; it is tried again by itself";
  }
  return "mend what the message says; it is tried again by itself";
}

// An agent is one of the cluster that the finding is about.
Findings CheckAgent(const Chain& chain, const Finding& waiting) {
  const std::string silent = WhyAgentIsSilent(chain, waiting.cluster);
  if (silent.empty()) return {};
  return {{waiting.step,
           Grade::kStuck,
           absl::StrCat(ApplierIn(chain, waiting.cluster), " is silent (", silent,
                        "): ", waiting.cause),
           AdviceForAgent(chain, waiting.cluster),
           waiting.cluster,
           {},
           waiting.waits_for,
           kProgramNotRunning}};
}

Findings CheckProgram(const Chain& chain, const Finding& waiting) {
  if (waiting.waits_for == Program::kAgent) return CheckAgent(chain, waiting);
  const std::string name = LeaseOf(waiting.waits_for);
  const auto lease = chain.leases.find(name);
  if (name.empty() || lease == chain.leases.end()) return {};
  const std::string abandoned = api::WhyNobodyLeads(*lease->second, chain.now);
  if (abandoned.empty()) return {};
  return {
      {waiting.step,
       Grade::kStuck,
       absl::StrCat(name, " does not run (", abandoned, "): ", waiting.cause),
       absl::StrCat("start ", name, "; if it runs with --leader-elect=false, delete its old Lease"),
       waiting.cluster,
       {},
       waiting.waits_for,
       kProgramNotRunning}};
}

std::string NameOf(Program program) { return LeaseOf(program); }

}  // namespace lens::why
