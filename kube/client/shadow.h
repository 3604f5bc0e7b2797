// Writes that are computed and not made: a decorator of transports keeps every request that would
// change something away from the server, answers it with what the server would have made of it, and
// records it. It lets a program show what it would do at clusters that another program controls.
//
//   auto shadow = std::make_shared<Shadow>(clock);
//   auto transport = shadow->Over("member1", server);   // For kube::Client.
//   shadow->Judge(stop);                                // Now and then, from one thread.
//   if (shadow->NeedsRound()) { shadow->BeginRound(); ...; shadow->EndRound(); }
//   shadow->Page();
//
// A write is first *held*: the other program is as quick as this one, and makes most writes itself
// a moment later. Judge() reads the object again. A write whose object has become what the write
// would make of it, or has changed in the fields concerned, is withdrawn. One that is still due
// after the hold needs a *round*, in which every loop looks at every object as after a start: what
// is tried again is reported. A write that no loop makes again belonged to a state that has passed;
// it is withdrawn.
//
// A write whose object cannot be read is *unanswered*: nobody knows whether it would change
// something. It is counted by itself, and neither Judge() nor a round withdraws it.
#ifndef KUBE_CLIENT_SHADOW_H_
#define KUBE_CLIENT_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/client/transport.h"

namespace metrics {
class Registry;
}

namespace kube {

namespace internal {
struct ShadowedWrite;
}

// Thread-safe.
class Shadow : public std::enable_shared_from_this<Shadow> {
 public:
  // How long a write is held. It has to be longer than the other program's slowest way from an
  // event to its write.
  static constexpr absl::Duration kHold = absl::Seconds(15);
  // After this time a round has to confirm again what is reported.
  static constexpr absl::Duration kConfirmed = absl::Minutes(5);
  // How often Judge() is to be called.
  static constexpr absl::Duration kPeriod = absl::Seconds(5);
  // The most objects that one Judge() reads, so that the servers are not loaded: 10 a second.
  static constexpr int kMostReads = 50;
  // The most targets of writes that are kept.
  static constexpr size_t kMostRecords = 20000;

  // REQUIRES: `clock` outlives the shadow and its transports.
  explicit Shadow(const base::Clock& clock);
  ~Shadow();
  Shadow(const Shadow&) = delete;

  // Shows karmada_shadow_writes_total and karmada_shadow_writes_outstanding in `registry`.
  // REQUIRES: called before Judge; `registry` outlives the last call of Judge.
  void ShowIn(metrics::Registry& registry);

  // Returns a transport that passes reads on to `server`: GET, HEAD, watches, and reviews of
  // tokens, accesses and subjects, which are asked for by POST and store nothing. Any other request
  // causes a GET of its object and gets an answer as the server would give it: the error for an
  // object that is missing, exists already or has changed; the object itself when nothing would
  // change; otherwise what the object would become. That one has neither resourceVersion nor
  // generation, so that nobody takes it for a state of the server: caches refuse it (see
  // Informer::Written) and a following write has no precondition. The server's other rules, such as
  // defaults, validation and webhooks, are not applied. An error of the GET is the answer,
  // and the write is unanswered unless that is a 404.
  //
  // Merge, JSON and strategic merge patches are computed exactly; a server-side apply is computed
  // as a strategic merge. A renewal of a Lease that exists is no write that is recorded.
  //
  // `cluster` names the server in reports. The transport shares ownership of the shadow.
  std::shared_ptr<Transport> Over(std::string cluster, std::shared_ptr<Transport> server);

  // Reads the objects of the writes that are due or unanswered, withdraws, and reports: a line in
  // the log and one more in the counter for each write, and again for the same write only when its
  // content changes by more than times and UUIDs. At most kMostReads objects are read, those first
  // that were not read for the longest time. A write is left as it is unless the answer is a 200,
  // or a 404 that names the object.
  void Judge(const base::StopToken& stop);

  // Returns whether a write is due that no round has confirmed, or none lately. One that is
  // unanswered, or whose server does not answer, waits until it can be judged again.
  bool NeedsRound() const;
  // To be called before the loops are made to look at everything, and when all of them have. The
  // writes that are due since before the round and were not tried in it are withdrawn, except those
  // that are unanswered or whose server does not answer.
  void BeginRound();
  void EndRound();
  // Ends a round in which not every loop has looked at everything: nothing is withdrawn.
  void AbandonRound();
  // Returns how many rounds EndRound has completed.
  int64_t rounds() const;

  // Returns JSON: {"outstanding": n, "held": n, "unanswered": n, "notListed": n, "rounds": n,
  // "writes": [...]}. `writes` has the outstanding ones: those that were reported and have not been
  // withdrawn. `notListed` counts since the last round began. Every value in a Secret, also in a
  // Work, and every text that is JSON is masked, and nothing else.
  std::string Page() const;

 private:
  class Decorator;
  struct Record;
  struct Counts;
  // Cluster, verb by the method, path: known also when no answer comes.
  using Target = std::tuple<std::string, std::string, std::string>;
  static Target TargetOf(const std::string& cluster, const HttpRequest& request);

  // Takes note of an attempt of a loop and of what came of it: a write, no change, no answer.
  void Note(const Target& target, const HttpRequest& request, internal::ShadowedWrite write,
            const std::shared_ptr<Transport>& server);
  void NoteNoChange(const Target& target);
  void NoteUnanswered(const Target& target, const HttpRequest& request,
                      const std::shared_ptr<Transport>& server);
  // Takes note of whether the server of a cluster answers.
  void Hear(const std::string& cluster, const absl::StatusOr<HttpResponse>& answer);
  // Returns the record for an attempt; nullptr if there is no place for it.
  Record* Attempted(const Target& target, const std::shared_ptr<Transport>& server)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Take(Record& record, internal::ShadowedWrite write, const HttpRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CanBeTried(const Target& target, const Record& record) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  // Returns what is to be judged, that first which was not judged for the longest time.
  std::vector<Target> ToJudge() const;
  // Returns a copy of the record if it is still to be judged.
  std::optional<Record> Find(const Target& target) const;
  // Reads the object and settles the record if the answer allows it. Returns whether the server
  // answered at all.
  bool JudgeOne(const Target& target, const Record& record, const base::StopToken& stop);
  void ShowGauge();
  void Withdraw(const Target& target, const Record& judged);
  void LeaveUnjudged(const Target& target);
  // Puts the result for a record into effect, unless the write has been made anew meanwhile.
  void Settle(const Target& target, const Record& judged,
              std::optional<internal::ShadowedWrite> now);
  void Report(const Target& target, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Counts Count() const;
  static json::Value Shown(const std::string& cluster, const Record& record);
  void ForgetOld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  metrics::Registry* registry_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::map<Target, Record> records_ ABSL_GUARDED_BY(mu_);
  // The clusters whose last answer was none, or an error of the server as a whole.
  std::set<std::string> silent_ ABSL_GUARDED_BY(mu_);
  int64_t not_listed_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t rounds_ ABSL_GUARDED_BY(mu_) = 0;
  // In the infinite future while there is no round.
  base::SteadyTime round_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_CLIENT_SHADOW_H_
