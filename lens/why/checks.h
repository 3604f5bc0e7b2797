// What can keep a template from arriving: an ordered table of checks over a chain.
//
// Each check answers one question, and reports what it finds as cause, evidence and advice. Checks
// are in the order of the template's way, so that the first finding that stops it is the cause.
#ifndef LENS_WHY_CHECKS_H_
#define LENS_WHY_CHECKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lens/why/chain.h"

namespace lens::why {

// The steps of a template's way.
enum class Step { kTemplate, kPolicy, kBinding, kScheduling, kDependencies, kWork, kMember };
absl::string_view StepName(Step step);

enum class Grade {
  kStuck,    // Nothing goes on until somebody acts.
  kWaiting,  // A program has to do its part; it may be doing so at this moment.
  kNote,     // It stops nothing, but it explains what a user may not expect.
};
absl::string_view GradeName(Grade grade);  // "stuck", "waiting", "note"

// The advice when a program does its part within seconds.
inline constexpr char kWaitAMoment[] = "wait a moment";

// What becomes of an object that is deleted in a cluster.
inline constexpr char kWhatIsLost[] =
    "what belongs to it there is lost, such as its Pods or the data of a volume";

// Goes after "see in member1".
inline constexpr char kWhoseFinalizers[] =
    " who sets these finalizers, and why they are not taken away";

// The program that a finding waits for.
enum class Program { kNone, kControllerManager, kScheduler, kAgent };
// Returns the name of the program by whose Lease one sees whether it runs; "" for others.
std::string NameOf(Program program);
// The check of a finding that says so.
inline constexpr char kProgramNotRunning[] = "program-not-running";

struct Finding {
  Step step;
  Grade grade = Grade::kStuck;
  std::string cause;         // A sentence without its full stop.
  std::string advice;        // The same; "" when there is nothing to do.
  std::string cluster = {};  // "" when it concerns all of them.
  std::vector<std::string> evidence = {};
  Program waits_for = Program::kNone;  // Of a finding that is stuck: it may be out of date without.
  std::string check = {};              // The name of the check, set by Diagnose.
  // What is true until the cause that another finding names has been mended; "" for nothing.
  std::string meanwhile = {};
  // What sets it apart from other findings of its check, such as why a member refuses the template.
  // Findings of different kinds in two clusters are not alike, whatever their texts are.
  std::string kind = {};
  // Somebody wants it so, as with a suspension: what fails is the cause before it.
  bool is_wanted = false;
};
using Findings = std::vector<Finding>;

struct Check {
  const char* name;
  const char* question;
  // What it finds, in a few words that are the same for each object: "$ is not ready", with "$" for
  // the cluster. Ends with a colon when what is found says more of the object.
  const char* brief;
  Findings (*run)(const Chain& chain);
};

// The checks of each step. A check returns an empty list when its step has not been reached.
absl::Span<const Check> TemplateChecks();
absl::Span<const Check> PolicyChecks();
absl::Span<const Check> BindingChecks();
absl::Span<const Check> SchedulingChecks();
absl::Span<const Check> DependencyChecks();
absl::Span<const Check> WorkChecks();
absl::Span<const Check> MemberChecks();
// What has arrived, and yet is not what one would expect.
absl::Span<const Check> ArrivalChecks();
// All of them, in the order of the way.
std::vector<Check> AllChecks();

// Returns the brief of the check that made the finding, with the cluster's name; for a program that
// does not run its name. REQUIRES: Diagnose has set finding.check.
std::string BriefOf(const Finding& finding);

// Returns "a, b and 3 more".
std::string Some(std::vector<std::string> names, size_t shown = 5);

// Returns what to do about a request that the control plane's API server refused with this message.
std::string AdviceForRefusal(absl::string_view message);

// Returns " for its finalizers a, b" for an object that is being deleted and waits, and for a
// Namespace also what it says of its contents; "" for others.
std::string WhatItWaitsFor(const kube::Object& object);
// Returns what to do about such an object in the cluster: a sentence without its full stop.
std::string AdviceForHeld(const kube::Object& object, const std::string& cluster);

// Why the template has not left a cluster in which it has a Work.
struct Removal {
  std::string why;     // Begins with ": "; "" when nothing says so.
  std::string advice;  // A sentence without its full stop.
};
Removal WhyNotRemoved(const Chain& chain, const std::string& cluster);

// Returns a finding for the program that `waiting` waits for, if its lease says that it does not
// run. The agent is that of the finding's cluster.
Findings CheckProgram(const Chain& chain, const Finding& waiting);

}  // namespace lens::why

#endif  // LENS_WHY_CHECKS_H_
