// The mirror itself: the queue and the table of slices, and the jobs of its thread. mirror.cc says
// how it works.
#ifndef SEARCH_OPENSEARCH_MIRROR_JOBS_H_
#define SEARCH_OPENSEARCH_MIRROR_JOBS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
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
#include "base/metrics.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "search/opensearch/bulk.h"
#include "search/opensearch/cluster_claims.h"
#include "search/opensearch/mirror.h"
#include "search/opensearch/mirror_metrics.h"
#include "search/opensearch/opensearch_client.h"
#include "search/opensearch/slice_comparison.h"
#include "search/opensearch/slice_table.h"
#include "search/opensearch/write_queue.h"

namespace search {

class Mirror : public OpenSearchMirror {
 public:
  Mirror(MirrorOptions options, std::unique_ptr<OpenSearchClient> client, const base::Clock& clock,
         metrics::Registry* metrics);
  ~Mirror() override;

  void Synced(const Slice& slice, std::shared_ptr<SliceSource> source) override;
  void Upsert(const Slice& slice, MirroredObject object) override;
  void Delete(const Slice& slice, absl::string_view uid, int64_t resource_version) override;
  void KindLeft(const Slice& slice) override;
  void SetScope(std::vector<Slice> slices) override;
  void Retire() override;
  void ReloadCredentials() override;
  MirrorStatus Status() const override;
  absl::Status SearchError() const override;
  OpenSearchClient& client() override { return *client_; }
  absl::Status AwaitIdle(base::SteadyTime deadline, const base::StopToken& stop) override;

 private:
  enum class Job { kStop, kPrepare, kCredentials, kLook, kScope, kCompare, kWrite };

  void Run();
  Job AwaitJob();
  std::optional<Job> NextJob(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  base::SteadyTime NextMoment() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool WriteIsDue(base::SteadyTime now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Do(Job job);
  void Finish(Job job, const absl::Status& status);
  // Whether the job is about reaching OpenSearch, not about documents.
  static bool IsAccess(Job job);
  // Whether the success of the job means that what failed last works again.
  bool Settles(Job job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Duration Backoff(int failures) const;

  absl::Status ReadCredentials();
  absl::Status Prepare();
  absl::Status Look();
  absl::Status LookAt(const std::vector<size_t>& positions);
  // Lets the client use what the grant names of the addresses at these positions.
  absl::Status Use(const std::vector<size_t>& positions, const ClusterLook& look,
                   const ClusterGrant& grant);
  absl::Status FindLeftovers();
  absl::Status Compare();
  absl::Status CompareLive(const SliceState& slice);
  // Compares the slice again, soon, and keeps the reason for the status.
  void Postpone(int64_t slice, const std::string& reason);
  absl::StatusOr<SliceDifference> Difference(const SliceState& slice, const SliceSnapshot& snapshot,
                                             const std::vector<StoredDocument>& stored);
  absl::Status EnsureIndex(const std::string& index);
  absl::Status Purge(const SliceState& slice);
  absl::Status WriteBatch();
  absl::Status WriteItems(std::vector<WriteQueue::Item> items);
  absl::StatusOr<std::vector<WriteResult>> Send(absl::Span<const BulkWrite> writes);
  void ForgetDeadLetters(int64_t slice, const SliceSnapshot& snapshot)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // After the write has turned out to be older than its document.
  void CompareSoon(const WriteQueue::Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Fills `write`; an error when the object is not JSON.
  absl::Status Encode(const WriteQueue::Item& item, const SliceState& slice, BulkWrite& write);
  absl::Status SettleAll(std::vector<WriteQueue::Item> sent, const std::vector<BulkWrite>& writes,
                         const std::vector<WriteResult>& results);
  void PutBackAll(std::vector<WriteQueue::Item> items);
  // Puts back what was not settled, if its slice is still there.
  void PutBack(WriteQueue::Item item, base::SteadyTime at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Settle(WriteQueue::Item item, const WriteResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(int64_t slice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasNothingToDo() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Leave(const Slice& slice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  base::StopToken stop() const { return stop_.get_token(); }

  const MirrorOptions options_;
  const std::unique_ptr<OpenSearchClient> client_;
  const base::Clock& clock_;
  MirrorMetrics metrics_;
  base::RepeatedErrors errors_;
  base::StopSource stop_;

  mutable absl::Mutex mu_;
  SliceTable slices_ ABSL_GUARDED_BY(mu_);
  WriteQueue queue_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<DocumentKey, std::string> dead_ ABSL_GUARDED_BY(mu_);  // And why, if kept.
  // Of the documents that are being sent: those that comparisons have found.
  size_t compared_in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  // When the writes were sent that have no answer yet.
  base::SteadyTime sent_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  MirrorStatus counts_ ABSL_GUARDED_BY(mu_);  // The counters, connected and last_error.
  bool wake_ ABSL_GUARDED_BY(mu_) = false;    // The thread has to look for a job again.
  bool prepared_ ABSL_GUARDED_BY(mu_) = false;
  // The template of the OpenSearch that is used is that of this control plane.
  bool is_ours_ ABSL_GUARDED_BY(mu_) = false;
  bool scope_due_ ABSL_GUARDED_BY(mu_) = false;
  bool busy_ ABSL_GUARDED_BY(mu_) = true;  // A job is under way.
  bool compared_last_ ABSL_GUARDED_BY(mu_) = false;
  int failures_ ABSL_GUARDED_BY(mu_) = 0;               // Of whole requests, one after the other.
  std::optional<Job> failed_job_ ABSL_GUARDED_BY(mu_);  // What last_error is about.
  base::SteadyTime backoff_until_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  base::SteadyTime credentials_due_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  base::SteadyTime scope_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  base::SteadyTime prepare_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  base::SteadyTime look_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();

  std::string owner_;              // Of the thread. "" until it has been found out.
  bool has_credentials_ = false;   // Of the thread.
  std::set<std::string> ensured_;  // Of the thread: indices that were there.
  std::thread thread_;             // Last: it uses everything above.
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_MIRROR_JOBS_H_
