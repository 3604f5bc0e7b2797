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
// is tried again is reported, what is not is withdrawn, because it came from a state that is over.
#ifndef KUBE_CLIENT_SHADOW_H_
#define KUBE_CLIENT_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
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
  // defaults, validation and webhooks, are not applied. An error of the GET is the answer.
  //
  // Merge, JSON and strategic merge patches are computed exactly; a server-side apply is computed
  // as a strategic merge. A renewal of a Lease that exists is no write that is recorded.
  //
  // `cluster` names the server in reports. The transport shares ownership of the shadow.
  std::shared_ptr<Transport> Over(std::string cluster, std::shared_ptr<Transport> server);

  // Reads the objects of all writes that are due, withdraws, and reports: a line in the log and one
  // more in the counter for each write, and again for the same write only when its content changes
  // by more than times and UUIDs.
  void Judge(const base::StopToken& stop);

  // Returns whether a write is due that no round has confirmed, or none lately.
  bool NeedsRound() const;
  // To be called before the loops are made to look at everything, and when all of them have. The
  // writes that are due since before the round and were not tried in it are withdrawn.
  void BeginRound();
  void EndRound();

  // Returns JSON: {"outstanding": n, "held": n, "notListed": n, "writes": [...]}. `writes` has the
  // outstanding ones: those that were reported and have not been withdrawn. No value of a Secret is
  // in it, and none of a Secret in a Work.
  std::string Page() const;

 private:
  class Decorator;
  struct Record;
  // Cluster, verb, apiVersion, kind, namespace, name, subresource.
  using Target = std::tuple<std::string, std::string, std::string, std::string, std::string,
                            std::string, std::string>;

  void Note(const std::string& cluster, const HttpRequest& request, internal::ShadowedWrite write,
            const std::shared_ptr<Transport>& server);
  std::vector<Target> Due() const;
  // Returns a copy of the record if it is still due.
  std::optional<Record> Find(const Target& target) const;
  void ShowGauge();
  // Puts the result for a record into effect, unless the write has been made anew meanwhile.
  void Settle(const Target& target, const Record& judged, bool still_due);
  void Report(const Target& target, Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetOld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  metrics::Registry* registry_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::map<Target, Record> records_ ABSL_GUARDED_BY(mu_);
  int64_t not_listed_ ABSL_GUARDED_BY(mu_) = 0;
  // In the infinite future while there is no round.
  base::SteadyTime round_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_CLIENT_SHADOW_H_
