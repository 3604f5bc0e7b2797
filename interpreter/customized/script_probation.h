// Keeps scripts that eat up their budget from being run on every call.
//
// Whoever ran out of time or memory three times in a row is suspected: its calls fail at once until
// some time has passed, then one call at a time may try. The time doubles with each further
// failure, from one second to five minutes. There are two kinds of suspects:
//
// - A script on one object: the last three of its runs failed. What other objects get does not
//   matter to it. A run of the object that ends within the budget, with a result or an error of its
//   own, clears it.
// - A script as a whole: three runs in a row failed, each on another object. Any run that ends
//   within the budget clears it; so does a change of the script's name or text.
//
// An object whose generation has changed since its last failure may be tried before its time, once
// in each waiting time: a repaired spec need not wait five minutes, and a status that changes every
// second (which moves the generation of kinds without a status subresource) gains one run at most.
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

// Threads: all calls from any thread. Calls take no lock, but for those of a script that has failed
// since it last ended within its budget, and of objects on which a script has failed lately.
class ScriptProbation {
 public:
  static constexpr int kEndsBeforeSuspicion = 3;
  static constexpr absl::Duration kFirstWait = absl::Seconds(1);
  static constexpr absl::Duration kLongestWait = absl::Minutes(5);
  // A pair of script and object that has not failed for so long is forgotten (it may be gone).
  static constexpr absl::Duration kMemory = absl::Minutes(10);
  // Pairs that are remembered; of more, the one whose failure is longest ago is forgotten.
  static constexpr size_t kMaxPairs = 1024;

  // A run that is about to be made. What it refers to must live until its end.
  struct Run {
    const lua::Script& script;
    absl::string_view customization;
    Operation operation;
    // The function's arguments. Namespace, name and uid of those that are objects (have metadata)
    // say together which object this is about.
    absl::Span<const json::Value> arguments;
  };
  // The right to make it.
  struct Ticket {
    bool tries_script = false;  // The script is suspected.
    bool tries_object = false;  // The pair of script and object is.
  };

  // Both must outlive this; `metrics` may be nullptr.
  ScriptProbation(const base::Clock& clock, metrics::Registry* metrics)
      : clock_(clock), metrics_(metrics) {}

  // Is asked before each run and answered with End after it. kUnavailable: do not run; the
  // message names customization, operation and object and says when it is tried again.
  absl::StatusOr<Ticket> Begin(const Run& run);
  // `outcome` of the run: kDeadlineExceeded and kResourceExhausted are ends by the budget, each
  // counted in karmada_interpreter_script_budget_exceeded_total{customization,operation}.
  void End(const Run& run, Ticket ticket, const absl::Status& outcome);
  // Forgets scripts that are not in this set, and the series of customizations that are not.
  void KeepOnly(const CustomizationSet& set);
  // Scripts, and pairs of script and object, that are remembered now.
  size_t size() const { return remembered_.load(std::memory_order_acquire); }
  // Returns whether runs of this script on these arguments take the lock. (More do than must, by
  // chance.)
  bool IsWatched(const Run& run) const;

 private:
  struct Suspect {
    int ends = 0;         // By the budget, in a row.
    absl::Duration wait;  // Zero until suspected.
    base::SteadyTime next_try;
    absl::Time next_try_wall;  // For messages.
    base::SteadyTime last_end;
    bool being_tried = false;

    bool suspected() const { return wait > absl::ZeroDuration(); }
    // One more end by the budget; from `enough` ends on it is suspected.
    void Fail(bool was_try, bool enough, base::SteadyTime now);
  };
  struct SuspectScript : Suspect {
    std::vector<uint64_t> objects;  // On which it failed in a row; at most kEndsBeforeSuspicion.
  };
  struct SuspectPair : Suspect {
    int64_t generation = 0;    // The object's generation at its last failure.
    bool tried_early = false;  // In this waiting time.
  };
  using Pair = std::pair<uint64_t, uint64_t>;  // Fingerprint of the script, hash of the object.

  // A set of hashes to which membership can be asked without a lock: some that are not in it are
  // said to be, none that is in it is said not to be.
  class Filter {
   public:
    bool MayHold(uint64_t hash) const {
      return buckets_[hash % kBuckets].load(std::memory_order_acquire);
    }
    // One thread at a time.
    template <class Map, class Hash>
    void Set(const Map& map, Hash hash);

   private:
    static constexpr size_t kBuckets = 4096;  // Four times as many as there are pairs at most.
    std::array<std::atomic<bool>, kBuckets> buckets_ = {};
  };

  absl::Status Refuse(const Run& run, const Suspect& suspect, bool whole_script) const;
  void Fail(const Run& run, Ticket ticket, uint64_t object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MakeRoom(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropOld(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count(const Run& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Recount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  metrics::Registry* const metrics_;
  std::atomic<size_t> remembered_{0};       // Entries of both maps; none: calls need not look.
  Filter watched_scripts_, watched_pairs_;  // What the maps have entries for.
  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, SuspectScript> scripts_ ABSL_GUARDED_BY(mu_);  // By fingerprint.
  absl::flat_hash_map<Pair, SuspectPair> pairs_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_drop_ ABSL_GUARDED_BY(mu_);     // When old pairs are looked for.
  std::set<std::string> counted_ ABSL_GUARDED_BY(mu_);  // Customizations that have series.
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_
