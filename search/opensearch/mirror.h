// Keeps documents in OpenSearch true to what a cache of member clusters sees.
//
//   ASSIGN_OR_RETURN(auto mirror, OpenSearchMirror::Create(options, clock, registry));
//   mirror->Synced({"member1", pods}, source);      // The cache has listed the pods of member1.
//   mirror->Upsert({"member1", pods}, {uid, version, json});
//   mirror->KindLeft({"member1", pods});            // The registries do not ask for them any more.
//
// README.md says how it works. Nothing rests on what this process remembers: everything that a
// mirror forgets at its end is found again by the reconciliations of the next one.
#ifndef SEARCH_OPENSEARCH_MIRROR_H_
#define SEARCH_OPENSEARCH_MIRROR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// One kind in one cluster.
struct Slice {
  std::string cluster;
  kube::Gvk kind;

  friend auto operator<=>(const Slice&, const Slice&) = default;
};

// What the mirror has to know of an object before it reads it.
struct MirroredObject {
  std::string uid;  // Objects without one, as a few aggregated APIs have, are not mirrored.
  // The object's own, which guards the document against older states. 0 if it is not a number: then
  // every state is written, and with each comparison again.
  int64_t resource_version = 0;
  // Returns the object as JSON. Called on the mirror's thread when the document is written, perhaps
  // several times; shares what the cache keeps, so that a waiting document costs no copy.
  std::function<std::string()> json;
  std::string ns;  // For whoever mirrors some namespaces only.
};

// All objects of a slice, as the cache has them at one moment.
struct SliceSnapshot {
  // The objects reflect at least every change of the kind up to this version of the member's API
  // server: the version of the list, of the newest event, or of the newest bookmark. It has to be
  // read before the objects are.
  int64_t known_version = 0;
  std::vector<MirroredObject> objects;
};

// A slice of the cache, as the mirror reads it. Called on the mirror's thread; may block for some
// seconds. Thread-safe.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  // An error when the cache does not know all objects at the moment; the mirror asks again later.
  virtual absl::StatusOr<SliceSnapshot> Snapshot() = 0;
  // Asks the member's API server for its version now, by a consistent read such as a list with
  // limit=1 and no resourceVersion. Needed only where documents are newer than known_version.
  virtual absl::StatusOr<int64_t> ServerVersion(const base::StopToken& stop) = 0;
};

// What a mirror may use of the addresses that have answered it.
struct ClusterGrant {
  std::string cluster_uuid;         // "" if a gateway hides it.
  std::set<std::string> addresses;  // Those that lead to it.
};

struct MirrorOptions {
  std::vector<std::string> addresses;
  // Reads the credentials; called before the first request, every `credentials_period`, and when
  // OpenSearch refused some. On an error those read before stay in use, but on kPermissionDenied
  // nothing is sent any more until the next ones.
  std::function<absl::StatusOr<OpenSearchCredentials>()> credentials;
  absl::Duration credentials_period = absl::Seconds(30);
  // Indices are named "<prefix>-<group>-<version>-<kind>". What has the same prefix belongs to one
  // control plane, because each deletes documents of clusters that it does not know.
  std::string index_prefix = "karmada-search";
  // Called with the cluster_uuid of each address that answers, before anything else is read or
  // written, every `look_period` and after each failure. Only the granted addresses are used; with
  // an error nothing is read or written, and the status shows it. Optional: without it all
  // addresses are used. Called on the mirror's thread.
  std::function<absl::StatusOr<ClusterGrant>(const std::map<std::string, std::string>& ids)> claim;
  // How often the mirror looks what its addresses lead to, and so notices an OpenSearch that does
  // not answer, or refuses the credentials, although there is nothing to write.
  absl::Duration look_period = absl::Seconds(5);
  // Returns what distinguishes the control plane from others, such as a uid. The index template
  // keeps it; with another one in there nothing is written or deleted, and the status says why.
  // Asked on the mirror's thread until it has been found out; without it nothing is written either.
  // Optional: without the function nobody is distinguished.
  std::function<absl::StatusOr<std::string>(const base::StopToken& stop)> owner;
  // A bulk request is sent when it has so many writes or bytes, or its first write has waited so
  // long.
  size_t bulk_writes = 1000;
  size_t bulk_bytes = 5 << 20;
  absl::Duration bulk_wait = absl::Milliseconds(200);
  absl::Duration request_timeout = absl::Seconds(60);
  // When writes have waited so long for an answer, the status shows it as an error.
  absl::Duration slow_answer = absl::Seconds(10);
  // Failures are followed by a jittered wait, which doubles from the first to the second.
  absl::Duration min_backoff = absl::Milliseconds(500);
  absl::Duration max_backoff = absl::Seconds(30);
  // Every slice is compared again so often (with jitter), to find what nobody reported.
  absl::Duration reconcile_period = absl::Minutes(10);
  // A slice is compared sooner, but at most so often, when documents turn out to be newer than its
  // events: another replica is ahead, or the member's versions went back.
  absl::Duration conflict_period = absl::Minutes(1);
  // When more deletions wait than this, those of a slice are forgotten and the slice is compared
  // instead: objects that are created and deleted while OpenSearch does not answer would fill the
  // memory.
  size_t max_deletions = 10'000;
  // Documents that one page of a comparison reads.
  int64_t page_size = 5000;
};

struct MirrorStatus {
  bool connected = false;  // There is no last_error, and a request was answered.
  // Why a request failed, until one for the same purpose succeeds.
  std::string last_error;
  std::string cluster_uuid;  // Of the OpenSearch that is written to; "" if it is not known.
  // The addresses that are not used, without users, and why: they lead to another OpenSearch.
  std::map<std::string, std::string> unused;
  size_t pending = 0;  // Documents that wait to be written or deleted.
  size_t slices = 0;
  // Slices that have not been compared since the cache listed them, or since they left.
  size_t unreconciled_slices = 0;
  // Slices of the scope that the cache has not listed yet.
  size_t unlisted = 0;
  // Documents of which a comparison has found that they are not what they should be, and which have
  // not been written or deleted since.
  size_t unwritten = 0;
  int64_t written = 0, deleted = 0;  // Documents, since the start.
  int64_t conflicts = 0;  // Writes that OpenSearch refused because its document is as new.
  int64_t retries = 0;    // Writes that were tried again.
  // Writes that failed alone and wait for their next try, and why the last of them failed.
  size_t retrying = 0;
  std::string retry_reason;
  size_t dead_letters = 0;
  struct DeadLetter {
    Slice slice;
    std::string uid, reason;
  };
  std::vector<DeadLetter> samples;  // A few of them.
  // Slices whose last comparison failed, and why, while others go on; a few of them.
  struct FailingSlice {
    Slice slice;
    std::string error;
  };
  std::vector<FailingSlice> failing;
};

// Thread-safe; none of the functions blocks, but for AwaitIdle and the destructor.
class OpenSearchMirror {
 public:
  // kInvalidArgument when addresses or prefix are unusable. Credentials that cannot be read, and an
  // OpenSearch that does not answer, show in the status and are tried again. `metrics` may be
  // nullptr. REQUIRES: clock and metrics outlive the mirror.
  static absl::StatusOr<std::unique_ptr<OpenSearchMirror>> Create(MirrorOptions options,
                                                                  const base::Clock& clock,
                                                                  metrics::Registry* metrics);
  // Ends the request that is under way. What waits in the queue is found by the next mirror.
  virtual ~OpenSearchMirror() = default;

  // The cache has listed the slice, for the first time or again. Events of a slice have no effect
  // before this, because the source has everything.
  virtual void Synced(const Slice& slice, std::shared_ptr<SliceSource> source) = 0;
  // Report an event. Of one object, in their order.
  virtual void Upsert(const Slice& slice, MirroredObject object) = 0;
  virtual void Delete(const Slice& slice, absl::string_view uid, int64_t resource_version) = 0;
  // The slice is not mirrored any more: its documents are deleted.
  virtual void KindLeft(const Slice& slice) = 0;
  // All slices that there should be; documents of others that are not named above are deleted, now
  // and every `reconcile_period`. Until the first call only slices that were named above are
  // touched, so that a program which has not read all its registries deletes nothing.
  virtual void SetScope(std::vector<Slice> slices) = 0;
  // Forgets all slices, what waits and the scope: until the next call of one of the functions above
  // the mirror only keeps its connection. What it would have done the next scope finds again.
  virtual void Retire() = 0;
  // The Secret has changed: credentials are read before the next request.
  virtual void ReloadCredentials() = 0;

  virtual MirrorStatus Status() const = 0;
  // Returns why nobody should search through client() at the moment (kUnavailable): it is not known
  // that the indices belong to this control plane, or no address answers and accepts the
  // credentials. OK also while OpenSearch refuses to write.
  virtual absl::Status SearchError() const = 0;
  // The client of this mirror, for searches. Valid as long as the mirror.
  virtual OpenSearchClient& client() = 0;
  // Waits until nothing is to be written, compared or deleted. kDeadlineExceeded says what is left.
  virtual absl::Status AwaitIdle(base::SteadyTime deadline, const base::StopToken& stop) = 0;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_MIRROR_H_
