#include "interpreter/customized/script_probation.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

namespace interpreter::customized {

namespace {

bool EndedByBudget(const absl::Status& outcome) {
  return absl::IsDeadlineExceeded(outcome) || absl::IsResourceExhausted(outcome);
}

}  // namespace

absl::StatusOr<ScriptProbation::Ticket> ScriptProbation::Begin(const lua::Script& script,
                                                               absl::string_view customization,
                                                               Operation operation) {
  Ticket ticket{script.fingerprint(), std::string(customization), operation};
  absl::MutexLock lock(&mu_);
  const auto found = suspects_.find(ticket.script);
  if (found == suspects_.end() || found->second.ends < kEndsBeforeSuspicion) return ticket;
  Suspect& suspect = found->second;
  if (!suspect.being_tried && clock_.Now() >= suspect.next_try) {
    suspect.being_tried = true;
    ticket.is_try = true;
    return ticket;
  }
  return absl::UnavailableError(absl::StrCat(
      OperationName(operation), " of customization ", customization, " ran out of time or memory ",
      suspect.ends, " times in a row; ",
      suspect.being_tried
          ? "another call is trying it again"
          : absl::StrCat("it is tried again at ", kube::FormatTime(suspect.next_try))));
}

void ScriptProbation::End(const Ticket& ticket, const absl::Status& outcome) {
  absl::MutexLock lock(&mu_);
  if (!EndedByBudget(outcome)) {
    suspects_.erase(ticket.script);
    return;
  }
  Count(ticket);
  Suspect& suspect = suspects_[ticket.script];
  if (++suspect.ends < kEndsBeforeSuspicion) return;
  if (ticket.is_try) {
    suspect.being_tried = false;
    suspect.wait = std::clamp(2 * suspect.wait, kFirstWait, kLongestWait);
  } else if (suspect.wait == absl::ZeroDuration()) {
    suspect.wait = kFirstWait;
  } else {
    return;  // It began before the suspicion and tells nothing new.
  }
  suspect.next_try = clock_.Now() + suspect.wait;
}

void ScriptProbation::Count(const Ticket& ticket) {
  if (metrics_ == nullptr) return;
  counted_.insert(ticket.customization);
  metrics_
      ->GetCounter("karmada_interpreter_script_budget_exceeded_total",
                   "Runs of a customization's script that ran out of time or memory.",
                   {{"customization", ticket.customization},
                    {"operation", std::string(OperationName(ticket.operation))}})
      .Increment();
}

void ScriptProbation::KeepOnly(const CustomizationSet& set) {
  absl::flat_hash_set<uint64_t> scripts;
  absl::flat_hash_set<std::string> names;
  for (const KindOperation& covered : set.Covered()) {
    for (const ScriptRule& rule : set.RulesFor(covered.gvk, covered.operation)) {
      names.insert(rule.customization);
      if (rule.script.ok()) scripts.insert((*rule.script)->fingerprint());
    }
  }
  absl::MutexLock lock(&mu_);
  absl::erase_if(suspects_, [&](const auto& entry) { return !scripts.contains(entry.first); });
  for (auto it = counted_.begin(); it != counted_.end();) {
    if (names.contains(*it)) {
      ++it;
      continue;
    }
    metrics_->RemoveSeries("customization", *it);
    it = counted_.erase(it);
  }
}

}  // namespace interpreter::customized
