// What of a run differs from the reference: states first, and if they differ nothing else of them;
// then what was written, what failed and what was warned of that the reference has not, and what
// the process takes in the end.

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/prove/hook_faults.h"
#include "tests/prove/perturbation.h"
#include "tests/prove/runs.h"

namespace prove {
namespace {

std::set<std::string> Sorted(const std::vector<std::string>& lines) {
  return {lines.begin(), lines.end()};
}

// A crash makes nothing fail that could be spoken of in events; errors, and reads of what is old,
// do.
bool MayWarn(Plan::Kind kind) {
  return kind != Plan::Kind::kReference && kind != Plan::Kind::kCrashBefore &&
         kind != Plan::Kind::kCrashAfter && kind != Plan::Kind::kCrashTwice;
}

// A webhook that fails makes things fail that are spoken of, and nothing else.
bool MayWarn(const Plan& plan, absl::string_view warning) {
  if (plan.kind != Plan::Kind::kWebhook) return MayWarn(plan.kind);
  return !IsBorne(plan) && absl::EndsWith(warning, kOfWebhook);
}

}  // namespace

void Widen(Record& reference, const Record& other) {
  reference.warnings.insert(other.warnings.begin(), other.warnings.end());
  reference.errors.insert(other.errors.begin(), other.errors.end());
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(reference.late_errors, other.late_errors);
  add(reference.late_writes, other.late_writes);
  for (const auto& [operation, times] : other.late_calls) {
    int& most = reference.late_calls[operation];
    most = std::max(most, times);
  }
  for (size_t i = 0; i < reference.delivered.size() && i < other.delivered.size(); ++i) {
    reference.delivered[i].insert(other.delivered[i].begin(), other.delivered[i].end());
  }
}

std::vector<std::string> Violations(const Record& reference, const Record& run,
                                    const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& line : run.broken) found.push_back(line);
  if (!run.failure.empty()) found.push_back(absl::StrCat("could not go on: ", run.failure));
  for (size_t i = 0; i < run.states.size() && i < reference.states.size(); ++i) {
    if (run.states[i].empty()) continue;
    for (const std::string& line : Differences(reference.states[i], run.states[i])) {
      found.push_back(absl::StrCat("after step ", i, ": ", line));
    }
    if (!found.empty()) break;  // What follows from it says no more.
  }
  for (const std::string& line : run.unmet) found.push_back(absl::StrCat("at the end: ", line));
  const std::set<std::string> known = Sorted(reference.writes_at_restart);
  for (const std::string& write : run.writes_at_restart) {
    if (!known.contains(write)) found.push_back(absl::StrCat("written at a restart: ", write));
  }
  const std::set<std::string> known_late = Sorted(reference.late_writes);
  for (const std::string& write : run.late_writes) {
    if (!known_late.contains(write)) found.push_back(absl::StrCat("written at the end: ", write));
  }
  std::set<std::string> known_errors = Sorted(reference.late_errors);
  // In the midst of the workload something may fail all the time that has an end later.
  if (run.states.size() < reference.states.size()) {
    known_errors.insert(reference.errors.begin(), reference.errors.end());
  }
  for (const std::string& error : run.late_errors) {
    if (!known_errors.contains(error)) found.push_back(absl::StrCat("fails at the end: ", error));
  }
  for (const auto& [operation, times] : run.late_calls) {
    const auto known = reference.late_calls.find(operation);
    if (known != reference.late_calls.end() && times <= known->second) continue;
    found.push_back(absl::StrCat("asked at the end: ", operation, " ", times, " times"));
  }
  const absl::StatusOr<std::vector<Plan>> plans = ReadPlans(name);
  const auto may_warn = [&](const std::string& warning) {
    return !plans.ok() || std::any_of(plans->begin(), plans->end(),
                                      [&](const Plan& plan) { return MayWarn(plan, warning); });
  };
  for (const std::string& warning : run.warnings) {
    if (!may_warn(warning) && !reference.warnings.contains(warning)) {
      found.push_back(absl::StrCat("warns: ", warning));
    }
  }
  // Pools grow with what happens at the same time, and do not shrink.
  constexpr double kMoreThreads = 1.5;
  if (run.threads > kMoreThreads * reference.threads) {
    found.push_back(absl::StrCat("threads: ", run.threads, " instead of ", reference.threads));
  }
  // A process that is small takes half as much again when more happens at the same time.
  constexpr double kMoreMemory = 1.5;
  constexpr int64_t kMoreKb = 10'000;
  if (static_cast<double>(run.rss_kb) > kMoreMemory * static_cast<double>(reference.rss_kb) &&
      run.rss_kb > reference.rss_kb + kMoreKb) {
    found.push_back(absl::StrCat("memory: ", run.rss_kb, " kB instead of ", reference.rss_kb));
  }
  return found;
}

}  // namespace prove
