// Keeps scripts that eat up their budget from being run on every call.
//
// A script that ran out of time or memory three times in a row becomes a suspect: its calls fail at
// once until a waiting time has passed, then one call at a time is let through as a try. The
// waiting time doubles with each further failure, from one second to five minutes. There are two
// kinds of suspects:
//
// - A script on one object, after three failures in a row on that object, whatever it does on other
//   objects. A run on the object that ends within the budget, with a result or an error of its own,
//   clears it.
// - A script on all objects, after three failures in a row on different objects. Any run that ends
//   within the budget clears it; so does a change of the script's name or text.
//
// An object whose generation has changed since its last failure may be tried early, once in each
// waiting time: a repaired spec need not wait five minutes, and a status that changes every second
// (which moves the generation of kinds without a status subresource) gains one run at most.
#ifndef INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_
#define INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/metrics.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "lua/script.h"

namespace interpreter::customized {

// Threads: all calls from any thread. A call takes a lock only if its script has failed since it
// last ended within its budget, or has failed on this object lately.
class ScriptProbation {
 public:
  static constexpr int kEndsBeforeSuspicion = 3;
  static constexpr absl::Duration kFirstWait = absl::Seconds(1);
  static constexpr absl::Duration kLongestWait = absl::Minutes(5);
  // A pair of script and object whose last failure is older is forgotten (the object may be gone).
  static constexpr absl::Duration kMemory = absl::Minutes(10);
  // When more pairs have failed, the one with the oldest failure is forgotten.
  static constexpr size_t kMaxPairs = 1024;

  // A run that is about to be made. What it refers to must live until its end.
  struct Run {
    const lua::Script& script;
    absl::string_view customization;
    Operation operation;
    // The function's arguments. The namespaces, names and uids of those that are objects (have
    // metadata) together identify the object of the run.
    absl::Span<const json::Value> arguments;
  };
  // The permission to make one run.
  struct Ticket {
    bool tries_script = false;  // The script is a suspect, and this run is its try.
    bool tries_object = false;  // The pair of script and object is, and this run is its try.
  };

  // REQUIRES: both outlive this object; `metrics` may be nullptr.
  ScriptProbation(const base::Clock& clock, metrics::Registry* metrics)
      : clock_(clock), metrics_(metrics) {}

  // Must be called before each run; End must follow the run if the result is OK. kUnavailable: do
  // not run; the message names the customization, and says when the next try may be.
  absl::StatusOr<Ticket> Begin(const Run& run);
  // `outcome` is that of the run: kDeadlineExceeded and kResourceExhausted mean that the budget
  // ended it; such ends are counted in
  // karmada_interpreter_script_budget_exceeded_total{customization,operation}.
  void End(const Run& run, Ticket ticket, const absl::Status& outcome);
  // Forgets scripts that are not in this set, and the series of customizations that are not in it.
  void KeepOnly(const CustomizationSet& set);
  // The number of scripts, and pairs of script and object, that are recorded now.
  size_t size() const { return remembered_.load(std::memory_order_acquire); }
  // Returns whether runs of this script on these arguments take the lock. (By chance it may be true
  // for others, too: see Filter.)
  bool IsWatched(const Run& run) const;

 private:
  struct Suspect {
    int ends = 0;         // Runs in a row that the budget ended.
    absl::Duration wait;  // Zero: not a suspect.
    base::SteadyTime next_try;
    base::SteadyTime last_end;
    bool being_tried = false;

    bool suspected() const { return wait > absl::ZeroDuration(); }
    // Records that the budget ended a run. `enough`: the entry has failed often enough to be a
    // suspect.
    void Fail(bool was_try, bool enough, base::SteadyTime now);
  };
  struct SuspectScript : Suspect {
    std::vector<uint64_t> objects;  // It failed on these in a row; at most kEndsBeforeSuspicion.
  };
  struct SuspectPair : Suspect {
    int64_t generation = 0;    // The object's generation at its last failure.
    bool tried_early = false;  // There was an early try in this waiting time.
  };
  using Pair = std::pair<uint64_t, uint64_t>;  // Fingerprint of the script, hash of the object.

  // A set of hashes that can be asked without a lock. MayHold is true for every hash in the set,
  // and by chance for some that are not in it.
  class Filter {
   public:
    bool MayHold(uint64_t hash) const {
      const size_t bucket = hash % kBuckets;
      return (words_[bucket / 64].load(std::memory_order_acquire) >> (bucket % 64) & 1) != 0;
    }
    // REQUIRES: one thread at a time.
    template <class Map, class Hash>
    void Set(const Map& map, Hash hash);

   private:
    static constexpr size_t kBuckets = 4096;  // Four times as many as there are pairs at most.
    std::array<std::atomic<uint64_t>, kBuckets / 64> words_ = {};  // A bit for each bucket.
  };

  static absl::Status Refuse(const Run& run, bool whole_script);
  void Fail(const Run& run, Ticket ticket, uint64_t object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MakeRoom(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropOld(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count(const Run& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Recount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  metrics::Registry* const metrics_;
  std::atomic<size_t> remembered_{0};       // Entries of both maps; at 0 no call needs to look.
  Filter watched_scripts_, watched_pairs_;  // Hashes of the entries of both maps.
  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, SuspectScript> scripts_ ABSL_GUARDED_BY(mu_);  // By fingerprint.
  absl::flat_hash_map<Pair, SuspectPair> pairs_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_drop_ ABSL_GUARDED_BY(mu_);     // When old pairs are next looked for.
  std::set<std::string> counted_ ABSL_GUARDED_BY(mu_);  // Customizations with a metric series.
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_
