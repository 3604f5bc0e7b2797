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
// A write is identified by its object and by the fields that it changes, not by their values: so
// two loops that write different fields of an object have two writes, and a loop whose value
// changes has one.
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
#ifndef KUBE_SHADOW_SHADOW_H_
#define KUBE_SHADOW_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/http/transport.h"
#include "kube/meta/names.h"

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
  // The most objects beyond these that it reads at a cluster whose last answer was none.
  static constexpr int kMostSilentReads = 10;
  // The most writes that are kept, and the most bytes of their requests and texts together.
  static constexpr size_t kMostRecords = 20000;
  static constexpr size_t kMostBytes = 64 << 20;
  // The most writes that a page lists.
  static constexpr size_t kMostListed = 1000;
  // The most fields of a write by which Judge() finds out whether somebody else has changed them.
  static constexpr size_t kMostFields = 1000;

  // REQUIRES: `clock` outlives the shadow and its transports.
  explicit Shadow(const base::Clock& clock);
  ~Shadow();
  Shadow(const Shadow&) = delete;

  // Shows karmada_shadow_writes_total, karmada_shadow_writes_outstanding and karmada_shadow_failing
  // in `registry`.
  // REQUIRES: called before Judge; `registry` outlives the last call of Judge.
  void ShowIn(metrics::Registry& registry);

  // Writes that are due on a plane that another program has written, because this one mends what
  // that leaves: all fields that change begin with `field`, and the patch has `word`, if there is
  // one.
  struct Mend {
    Gvk gvk;
    std::string subresource, field;
    std::string why;  // Shown with each such write.
    std::string word;
  };
  // REQUIRES: called before Judge and Page.
  void ExpectMends(std::vector<Mend> mends) { mends_ = std::move(mends); }

  // What a write is about.
  struct Subject {
    std::string cluster;
    Gvk gvk;
    ObjectKey key;
    std::string subresource;
    std::string verb;  // "create", "update", "patch", "delete" or "deletecollection".
  };
  // Returns how the control plane shows that the other program tries to write this, and fails; ""
  // when it does not show it. Called on any thread; it must not call the shadow.
  using Refusal = std::function<std::string(const Subject& subject)>;
  // REQUIRES: called before Judge and Page.
  void ExplainBy(Refusal refusal) { refusal_ = std::move(refusal); }

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
  // as a strategic merge. A renewal of a Lease that exists is not recorded.
  //
  // `cluster` names the server in reports. The transport shares ownership of the shadow.
  std::shared_ptr<Transport> Over(std::string cluster, std::shared_ptr<Transport> server);

  // Reads the objects of the writes that are due or unanswered, withdraws, and reports: a line in
  // the log and one more in the counter for each write, and again for the same write only when its
  // content changes by more than times and UUIDs. At most kMostReads objects are read, those first
  // that were not read for the longest time; then up to kMostSilentReads of one cluster whose last
  // answer was none, another one in each call. Waits for one time-out of each cluster that has
  // fallen silent since the last call, and for one more. A write is left as it is unless the answer
  // is a 200, or a 404 that names the object.
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

  // What keeps loops from looking at objects now, by the program that runs them: a pass over a key
  // that failed, or a cache that cannot be read.
  struct Failure {
    std::string controller, key, error;
    // How the control plane shows that the other program fails there, too; "" when it does not.
    std::string upstream = {};
  };
  struct Failing {
    size_t count = 0;
    std::vector<Failure> some;
    size_t upstream = 0;  // How many of all are shown to fail with the other program, too.
  };
  // Shows the count as karmada_shadow_failing.
  void ShowFailing(size_t count);

  // How many writes there are of each sort.
  struct Numbers {
    // Reported and not withdrawn. Of these: expected ones, and those that the other program tries,
    // too, and fails at.
    int64_t outstanding = 0, mends = 0, refused_upstream = 0;
    int64_t held = 0;
    int64_t held_long = 0;                      // Due for longer than kHeldLong, and not reported.
    std::map<std::string, int64_t> unanswered;  // By cluster.
    int64_t not_listed = 0, rounds = 0;
  };
  static constexpr absl::Duration kHeldLong = absl::Minutes(1);
  Numbers Count() const;

  // Returns a JSON object: {"outstanding": n, "mends": n, "refusedUpstream": n, "held": n,
  // "unanswered": n, "failing": n, "failingUpstream": n, "notListed": n, "rounds": n, "writes":
  // [...], "failures": [...]}. `writes` has the outstanding ones, at most kMostListed: those that
  // were reported and have not been withdrawn. `mends` is how many of all these are expected ones,
  // whose `why` says what for; `refusedUpstream` how many others have an `upstream`, the answer of
  // the Refusal. `failing`, `failingUpstream` and `failures` are the argument. `notListed` counts
  // since the last round began. Every value in a Secret, also in a Work, and every text that is
  // JSON is masked, and nothing else.
  json::Value PageObject(const Failing& failing) const;
  std::string Page(const Failing& failing) const;  // The same as text.
  std::string Page() const { return Page(Failing()); }

 private:
  class Decorator;
  struct Record;
  struct Listed;
  // Cluster, verb by the method, path: known also when there is no answer.
  using Target = std::tuple<std::string, std::string, std::string>;
  // A target, and the identity of the changes of a write; or, of an attempt whose object could not
  // be read, a mark and the fields that its request is about.
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  static Target TargetOf(const std::string& cluster, const HttpRequest& request);
  static Key KeyOf(const Target& target, const internal::ShadowedWrite& write);
  static Key UnansweredKey(const Target& target, const HttpRequest& request);

  // Takes note of an attempt of a loop and of what came of it: a write, no change, no answer.
  void Note(const Target& target, const HttpRequest& request, internal::ShadowedWrite write,
            const std::shared_ptr<Transport>& server);
  void NoteNoChange(const Target& target, const HttpRequest& request);
  void NoteUnanswered(const Target& target, const HttpRequest& request,
                      const std::shared_ptr<Transport>& server);
  // Takes note of whether the server of a cluster answers.
  void Hear(const std::string& cluster, const absl::StatusOr<HttpResponse>& answer);
  // Returns the record for an attempt, which is to hold this many bytes; nullptr if there is no
  // place for them.
  Record* Attempted(const Key& key, size_t bytes, const std::shared_ptr<Transport>& server)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Take(Record& record, internal::ShadowedWrite write, const HttpRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static size_t BytesOf(const internal::ShadowedWrite& write, const HttpRequest& request);
  void Weigh(const Key& key, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Erase(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Withdraw(const Key& key, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops the records that are not kept and match.
  template <class Matches>
  void Drop(const Matches& matches) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CanBeTried(const Key& key, const Record& record) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  // Returns what is to be judged, that first which was not judged for the longest time.
  std::vector<Key> ToJudge() const;
  // Returns the clusters whose last answer was none or a failure.
  std::set<std::string> SilentToAsk() const;
  // Judges records in this order, except those of the clusters that are left out.
  void JudgeThose(const std::vector<Key>& keys, int most_reads, std::set<std::string> left_out,
                  const base::StopToken& stop);
  // Judges the records of that silent cluster whose turn it is.
  void JudgeSilent(const std::vector<Key>& keys, const std::set<std::string>& silent,
                   const base::StopToken& stop);
  // Returns a copy of the record if it is still to be judged.
  std::optional<Record> Find(const Key& key) const;
  // Reads the object and settles the record if the answer allows it. Returns whether the server
  // answered at all.
  bool JudgeOne(const Key& key, const Record& record, const base::StopToken& stop);
  void ShowGauge();
  void LeaveUnjudged(const Key& key);
  // Puts the result for a record into effect, unless the write has been made again meanwhile.
  void Settle(const Key& key, const Record& judged, std::optional<internal::ShadowedWrite> now);
  void Adopt(const Key& key, std::optional<internal::ShadowedWrite> now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StaysDue(const Key& key, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Report(const Key& key, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetOld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds what is known of the outstanding writes to `listed`, unless it is null.
  Numbers Count(std::vector<Listed>* listed) const;
  json::Value Shown(const Listed& write) const;
  // Returns why this write is expected; "" when it is not.
  absl::string_view WhyOf(const internal::ShadowedWrite& write) const;
  // Returns the answer of the Refusal about a write that is not expected.
  std::string UpstreamOf(const std::string& cluster, const internal::ShadowedWrite& write) const;

  const base::Clock& clock_;
  std::vector<Mend> mends_;
  Refusal refusal_;
  mutable absl::Mutex mu_;
  metrics::Registry* registry_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::map<Key, Record> records_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // Of all records.
  // The clusters whose last answer was none, or an error of the server as a whole.
  std::set<std::string> silent_ ABSL_GUARDED_BY(mu_);
  // The silent cluster that was asked last; only Judge() uses it. Empty: the first one is next.
  std::string asked_last_;
  int64_t not_listed_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t rounds_ ABSL_GUARDED_BY(mu_) = 0;
  // In the infinite future while there is no round.
  base::SteadyTime round_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_SHADOW_SHADOW_H_
