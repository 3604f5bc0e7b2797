// Each failure is recorded twice: for the script (scripts_), with the objects it happened on, and
// for the pair of script and object (pairs_). An entry becomes a suspect when enough failures came
// in a row, and has a waiting time from then on. A run that is let through while its entry is a
// suspect is a try, and only the outcome of a try changes the waiting time. A run within the budget
// removes its script's and its pair's entries.
//
// One mutex guards both maps. Runs of scripts and objects that have no entry do not take it: they
// look at two filters, which are rebuilt with every change of the maps.

#include "interpreter/customized/script_probation.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace interpreter::customized {

namespace {

// How often pairs whose last failure is long ago are looked for and dropped.
constexpr absl::Duration kDropEvery = absl::Minutes(1);

bool EndedByBudget(const absl::Status& outcome) {
  return absl::IsDeadlineExceeded(outcome) || absl::IsResourceExhausted(outcome);
}

// Includes the uid: the template, and the member's objects made from it, have the same namespace
// and name.
uint64_t HashOfObjects(absl::Span<const json::Value> arguments) {
  uint64_t hash = 0;
  for (const json::Value& argument : arguments) {
    const json::Value& metadata = argument["metadata"];
    hash = absl::HashOf(hash, metadata["namespace"].AsString(), metadata["name"].AsString(),
                        metadata["uid"].AsString());
  }
  return hash;
}

uint64_t HashOfPair(const std::pair<uint64_t, uint64_t>& pair) { return absl::HashOf(pair); }

int64_t GenerationOf(absl::Span<const json::Value> arguments) {
  int64_t generation = 0;  // With two objects (Retain), a change of either changes the sum.
  for (const json::Value& argument : arguments) {
    generation += argument.Get({"metadata", "generation"}).AsInt();
  }
  return generation;
}

}  // namespace

template <class Map, class Hash>
void ScriptProbation::Filter::Set(const Map& map, Hash hash) {
  std::array<uint64_t, kBuckets / 64> held = {};
  for (const auto& [key, suspect] : map) {
    const size_t bucket = hash(key) % kBuckets;
    held[bucket / 64] |= uint64_t{1} << (bucket % 64);
  }
  for (size_t i = 0; i < held.size(); ++i) words_[i].store(held[i], std::memory_order_release);
}

bool ScriptProbation::IsWatched(const Run& run) const {
  if (size() == 0) return false;
  const uint64_t script = run.script.fingerprint();
  return watched_scripts_.MayHold(script) ||
         watched_pairs_.MayHold(HashOfPair({script, HashOfObjects(run.arguments)}));
}

absl::StatusOr<ScriptProbation::Ticket> ScriptProbation::Begin(const Run& run) {
  Ticket ticket;
  // Without a lock: almost all runs are of scripts that have never failed. The filter may say
  // "maybe" wrongly, but never "no".
  if (!IsWatched(run)) return ticket;
  const uint64_t object = HashOfObjects(run.arguments);
  absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  DropOld(now);
  const auto pair = pairs_.find({run.script.fingerprint(), object});
  bool early = false;
  if (pair != pairs_.end() && pair->second.suspected()) {
    const SuspectPair& suspect = pair->second;
    early = now < suspect.next_try;
    const bool changed = suspect.generation != GenerationOf(run.arguments);
    if (suspect.being_tried || (early && (!changed || suspect.tried_early))) {
      return Refuse(run, /*whole_script=*/false);
    }
    ticket.tries_object = true;
  }
  const auto script = scripts_.find(run.script.fingerprint());
  if (script != scripts_.end() && script->second.suspected()) {
    SuspectScript& suspect = script->second;
    if (suspect.being_tried || now < suspect.next_try) {
      return Refuse(run, /*whole_script=*/true);
    }
    suspect.being_tried = ticket.tries_script = true;
  }
  // Marked last, because the whole script may have been refused in between.
  if (ticket.tries_object) {
    pair->second.being_tried = true;
    pair->second.tried_early = early;
  }
  return ticket;
}

// The text has no number that changes from call to call, so that events about it are counted as
// one. The chain adds operation and object.
absl::Status ScriptProbation::Refuse(const Run& run, bool whole_script) {
  return absl::UnavailableError(absl::StrCat(
      "customization ", run.customization, " ran out of time or memory several times in a row ",
      whole_script ? "on several objects" : "on this object",
      ", so it is not run; it is tried again after pauses, which grow to five minutes"));
}

void ScriptProbation::End(const Run& run, Ticket ticket, const absl::Status& outcome) {
  const bool failed = EndedByBudget(outcome);
  if (!failed && !IsWatched(run)) return;
  const uint64_t object = HashOfObjects(run.arguments);
  absl::MutexLock lock(&mu_);
  if (failed) {
    Count(run);
    Fail(run, ticket, object);
  } else {
    scripts_.erase(run.script.fingerprint());
    // One run within the budget clears the script and the object.
    pairs_.erase({run.script.fingerprint(), object});
  }
  Recount();
}

void ScriptProbation::Fail(const Run& run, Ticket ticket, uint64_t object) {
  const base::SteadyTime now = clock_.SteadyNow();
  const Pair key{run.script.fingerprint(), object};
  if (!pairs_.contains(key)) MakeRoom(now);
  SuspectPair& pair = pairs_[key];
  pair.generation = GenerationOf(run.arguments);
  pair.Fail(ticket.tries_object, pair.ends + 1 >= kEndsBeforeSuspicion, now);

  SuspectScript& script = scripts_[key.first];
  std::vector<uint64_t>& objects = script.objects;
  if (objects.size() < kEndsBeforeSuspicion &&
      std::count(objects.begin(), objects.end(), object) == 0) {
    objects.push_back(object);
  }
  script.Fail(ticket.tries_script, objects.size() >= kEndsBeforeSuspicion, now);
}

void ScriptProbation::Suspect::Fail(bool was_try, bool enough, base::SteadyTime now) {
  ++ends;
  last_end = now;
  if (was_try) {
    being_tried = false;
    wait = std::clamp(2 * wait, kFirstWait, kLongestWait);
  } else if (enough && !suspected()) {
    wait = kFirstWait;
  } else {
    return;  // Too early to suspect, or the run began before the suspicion did.
  }
  next_try = now + wait;
}

void ScriptProbation::MakeRoom(base::SteadyTime now) {
  next_drop_ = now;
  DropOld(now);
  if (pairs_.size() < kMaxPairs) return;
  pairs_.erase(std::min_element(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) {
    return a.second.last_end < b.second.last_end;
  }));
}

void ScriptProbation::DropOld(base::SteadyTime now) {
  if (now < next_drop_) return;
  next_drop_ = now + kDropEvery;
  const auto is_old = [now](const auto& entry) {
    return !entry.second.being_tried && entry.second.last_end + kMemory <= now;
  };
  absl::erase_if(pairs_, is_old);
  absl::erase_if(scripts_, is_old);
  Recount();
}

void ScriptProbation::Recount() {
  watched_scripts_.Set(scripts_, [](uint64_t fingerprint) { return fingerprint; });
  watched_pairs_.Set(pairs_, HashOfPair);
  remembered_.store(pairs_.size() + scripts_.size(), std::memory_order_release);
}

void ScriptProbation::Count(const Run& run) {
  if (metrics_ == nullptr) return;
  counted_.insert(std::string(run.customization));
  metrics_
      ->GetCounter("karmada_interpreter_script_budget_exceeded_total",
                   "Runs of a customization's script that ran out of time or memory.",
                   {{"customization", std::string(run.customization)},
                    {"operation", std::string(OperationName(run.operation))}})
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
  absl::erase_if(scripts_, [&](const auto& entry) { return !scripts.contains(entry.first); });
  absl::erase_if(pairs_, [&](const auto& entry) { return !scripts.contains(entry.first.first); });
  Recount();
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
