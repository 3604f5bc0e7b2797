// One thread does one job after the other: it prepares (credentials, server, template), looks for
// documents of slices that nobody knows, compares a slice, or writes a batch. Handlers of the cache
// only change the queue and the table of slices, under mu_.
//
// Order. A slice is live from the beginning of its first comparison on: events before it are in the
// snapshot that the comparison takes afterwards, events after it are in the queue. What a
// comparison finds goes into the queue only where no event waits. That is right because only this
// thread takes from the queue: what it has sent is older than a snapshot that it takes later.
//
// Memory. What waits is one entry for an object that is there, and one for each deletion since
// OpenSearch answered last. When the deletions are too many, a slice goes back to the state before
// its first comparison.
//
// Addresses. Each is looked at before the client may send anything else there: Look finds which
// OpenSearch it leads to, and whether this mirror may work on that one. In between the mirror looks
// again every few seconds, so that the status also says the truth when there is nothing to write.
//
// Failures. When a request fails as a whole, everything waits (backoff_until_), and the next job is
// to prepare, because the server may be another one. The error stays in the status until the same
// job succeeds. A slice whose source has no snapshot waits alone, and so does a write that failed
// alone.

#include "search/opensearch/mirror.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "base/threads.h"
#include "search/opensearch/bulk_writer.h"
#include "search/opensearch/index_template.h"
#include "search/opensearch/mirror_jobs.h"

namespace search {
namespace {

constexpr double kJitter = 0.3;
constexpr size_t kSamples = 5;
constexpr int kMaxDoublings = 10;

}  // namespace

Mirror::Mirror(MirrorOptions options, std::unique_ptr<OpenSearchClient> client,
               const base::Clock& clock, metrics::Registry* metrics)
    : options_(std::move(options)),
      client_(std::move(client)),
      clock_(clock),
      metrics_(metrics),
      slices_(options_.index_prefix) {
  // Before the thread begins: no request may go to an address that Look has not admitted.
  client_->RequireAdmission();
  thread_ = base::StartThread("a mirror in OpenSearch", [this] { Run(); });
}

Mirror::~Mirror() {
  stop_.request_stop();
  thread_.join();
}

void Mirror::Synced(const Slice& slice, std::shared_ptr<SliceSource> source) {
  absl::MutexLock lock(&mu_);
  SliceState& state = slices_.Join(slice, std::move(source));
  // What waits was in the scope of the source before, and may not be in that of this one. The
  // comparison finds everything again.
  queue_.EraseSlice(state.number);
  state.live = false;
  wake_ = true;
}

void Mirror::Upsert(const Slice& slice, MirroredObject object) {
  absl::MutexLock lock(&mu_);
  const SliceState* state = slices_.Find(slice);
  if (state == nullptr || !state->live || object.uid.empty()) return;
  // The thread wakes for the first entry, to know when the batch is due, and when the batch is
  // full; those between are not worth it.
  wake_ = wake_ || queue_.ready() == 0 || queue_.ready() + 1 == options_.bulk_writes;
  queue_.Put({state->number, std::move(object.uid)},
             {.resource_version = object.resource_version,
              .json = std::move(object.json),
              .also_equal = object.resource_version <= 0},
             clock_.SteadyNow());
}

void Mirror::Delete(const Slice& slice, absl::string_view uid, int64_t resource_version) {
  absl::MutexLock lock(&mu_);
  SliceState* const state = slices_.Find(slice);
  if (state == nullptr || !state->live || uid.empty()) return;
  wake_ = wake_ || queue_.ready() == 0 || queue_.ready() + 1 == options_.bulk_writes;
  queue_.Put({state->number, std::string(uid)}, {.resource_version = resource_version},
             clock_.SteadyNow());
  if (queue_.deletions() <= options_.max_deletions) return;
  // The comparison finds everything that is forgotten here; as before the first one, events have no
  // effect until it begins.
  queue_.EraseSlice(state->number);
  state->live = false;
  state->reconciled = false;
  state->dirty = true;
  state->due = base::SteadyTime::InfinitePast();
}

void Mirror::Leave(const Slice& slice) {
  if (const auto number = slices_.Leave(slice); number.has_value()) Forget(*number);
}

void Mirror::KindLeft(const Slice& slice) {
  absl::MutexLock lock(&mu_);
  Leave(slice);
  // The cache may never have listed it, so that only a look at the documents finds what there is.
  scope_due_ = scope_due_ || slices_.has_scope();
  wake_ = true;
}

void Mirror::SetScope(std::vector<Slice> slices) {
  absl::MutexLock lock(&mu_);
  slices_.SetScope(slices);
  scope_due_ = true;
  wake_ = true;
}

void Mirror::Retire() {
  absl::MutexLock lock(&mu_);
  slices_.Clear();
  queue_ = WriteQueue();
  dead_.clear();
  scope_due_ = false;
  wake_ = true;
}

void Mirror::ReloadCredentials() {
  absl::MutexLock lock(&mu_);
  credentials_due_ = base::SteadyTime::InfinitePast();
  // New credentials may be what the failure waits for.
  backoff_until_ = base::SteadyTime::InfinitePast();
  wake_ = true;
}

void Mirror::Forget(int64_t slice) {
  queue_.EraseSlice(slice);
  absl::erase_if(dead_, [slice](const auto& entry) { return entry.first.slice == slice; });
}

MirrorStatus Mirror::Status() const {
  absl::MutexLock lock(&mu_);
  MirrorStatus status = counts_;
  status.pending = queue_.size();
  status.slices = slices_.size();
  status.unreconciled_slices = slices_.unreconciled();
  status.unlisted = slices_.unlisted();
  status.unwritten = queue_.compared() + compared_in_flight_;
  status.dead_letters = dead_.size();
  status.retrying = queue_.delayed();
  if (status.retrying == 0) status.retry_reason.clear();
  // A request that hangs has not failed yet, but whoever reads the status should know.
  const absl::Duration waited = clock_.SteadyNow() - sent_at_;
  if (status.last_error.empty() && waited >= options_.slow_answer) {
    status.connected = false;
    status.last_error = "OpenSearch has not answered a write for " +
                        absl::FormatDuration(absl::Trunc(waited, absl::Seconds(1)));
  }
  status.failing = slices_.Failing(kSamples);
  for (const auto& [key, reason] : dead_) {
    if (status.samples.size() == kSamples) break;
    const SliceState* slice = slices_.Find(key.slice);
    if (slice != nullptr && !reason.empty())
      status.samples.push_back({slice->slice, key.uid, reason});
  }
  return status;
}

bool Mirror::HasNothingToDo() const {
  return !scope_due_ && queue_.size() == 0 && slices_.dirty() == 0;
}

bool Mirror::IsIdle() const { return !busy_ && prepared_ && HasNothingToDo(); }

absl::Status Mirror::AwaitIdle(base::SteadyTime deadline, const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped.IsSet() || IsIdle(); };
  const bool in_time = clock_.AwaitUntil(mu_, absl::Condition(&done), deadline);
  if (in_time && IsIdle()) return absl::OkStatus();
  if (stopped.IsSet()) return absl::CancelledError("stopped");
  return absl::DeadlineExceededError(
      absl::StrCat(queue_.size(), " documents and ", slices_.dirty(), " slices are left; ",
                   counts_.last_error.empty() ? "no error" : counts_.last_error));
}

bool Mirror::WriteIsDue(base::SteadyTime now) const {
  return queue_.ready() >= options_.bulk_writes || queue_.oldest() + options_.bulk_wait <= now ||
         queue_.next_retry() <= now;
}

std::optional<Mirror::Job> Mirror::NextJob(base::SteadyTime now) {
  if (stop().stop_requested()) return Job::kStop;
  // The order below is that of need: each job may be done only when those before it are.
  if (now < backoff_until_) return std::nullopt;
  if (!prepared_ || prepare_at_ <= now) return Job::kPrepare;
  if (credentials_due_ <= now) return Job::kCredentials;
  if (look_at_ <= now) return Job::kLook;
  if (scope_at_ <= now) scope_due_ = slices_.has_scope();
  if (scope_due_) return Job::kScope;
  slices_.MarkDue(now);
  const SliceState* slice = slices_.NextDirty();
  const bool compare = slice != nullptr && slice->due <= now;
  const bool write = WriteIsDue(now);
  // They take turns, so that neither keeps the other from its work.
  if (compare && !(write && compared_last_)) return Job::kCompare;
  if (write) return Job::kWrite;
  return std::nullopt;
}

// When there may be a job although nobody reports anything.
base::SteadyTime Mirror::NextMoment() const {
  const base::SteadyTime work = std::min(
      {queue_.oldest() + options_.bulk_wait, queue_.next_retry(), slices_.NextDue(),
       credentials_due_, slices_.has_scope() ? scope_at_ : base::SteadyTime::InfiniteFuture(),
       prepare_at_, look_at_});
  return std::max(backoff_until_, work);
}

Mirror::Job Mirror::AwaitJob() {
  const base::StopFlag stopped(mu_, stop());
  absl::MutexLock lock(&mu_);
  for (;;) {
    // Before the look: what is reported after it wakes the thread again.
    wake_ = false;
    const auto job = NextJob(clock_.SteadyNow());
    if (job.has_value()) {
      busy_ = true;
      return *job;
    }
    busy_ = false;
    auto awake = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped.IsSet() || wake_; };
    clock_.AwaitUntil(mu_, absl::Condition(&awake), NextMoment());
  }
}

absl::Status Mirror::Do(Job job) {
  switch (job) {
    case Job::kPrepare:
      return Prepare();
    case Job::kCredentials:
      return ReadCredentials();
    case Job::kLook:
      return Look();
    case Job::kScope:
      return FindLeftovers();
    case Job::kCompare:
      return Compare();
    case Job::kWrite:
      return WriteBatch();
    case Job::kStop:
      break;
  }
  return absl::OkStatus();
}

void Mirror::Run() {
  for (Job job = AwaitJob(); job != Job::kStop; job = AwaitJob()) {
    Finish(job, Do(job));
    {
      absl::MutexLock lock(&mu_);
      if (job == Job::kCompare || job == Job::kWrite) compared_last_ = job == Job::kCompare;
    }
    metrics_.Report(Status());
  }
}

absl::Duration Mirror::Backoff(int failures) const {
  const absl::Duration wait =
      options_.min_backoff * (int64_t{1} << std::min(failures, kMaxDoublings));
  return base::Jitter(std::min(wait, options_.max_backoff), kJitter);
}

void Mirror::Finish(Job job, const absl::Status& status) {
  if (stop().stop_requested()) return;
  if (!status.ok()) {
    const auto verdict =
        errors_.Note(base::KindOfMessage(status.message(), ""), clock_.SteadyNow());
    if (verdict.log) {
      base::LogWarning("mirroring to OpenSearch failed",
                       {{"error", status}, {"more", verdict.More()}});
    }
  }
  absl::MutexLock lock(&mu_);
  if (status.ok()) {
    const bool settles = Settles(job);
    // A look that succeeds between failing writes must not make the wait short again.
    if (settles || !IsAccess(job)) failures_ = 0;
    if (!settles) return;
    failed_job_.reset();
    counts_.connected = true;
    counts_.last_error.clear();
    return;
  }
  failed_job_ = job;
  // Somebody else's template is found by preparing only.
  if (job == Job::kPrepare && absl::IsFailedPrecondition(status)) is_ours_ = false;
  counts_.connected = false;
  counts_.last_error = std::string(status.message());
  prepared_ = false;
  const absl::Duration wait = std::max(Backoff(failures_++), RetryAfterOf(status));
  backoff_until_ = clock_.SteadyNow() + wait;
}

absl::Status Mirror::SearchError() const {
  absl::MutexLock lock(&mu_);
  if (is_ours_ && !(failed_job_.has_value() && IsAccess(*failed_job_))) return absl::OkStatus();
  return absl::UnavailableError(counts_.last_error.empty() ? "it has not answered yet"
                                                           : counts_.last_error);
}

bool Mirror::IsAccess(Job job) {
  return job == Job::kPrepare || job == Job::kCredentials || job == Job::kLook;
}

bool Mirror::Settles(Job job) const {
  if (job == Job::kCredentials) return false;  // Nothing was sent.
  // A server also answers the look while it refuses the work itself.
  return !failed_job_.has_value() || IsAccess(*failed_job_) || *failed_job_ == job ||
         HasNothingToDo();
}

absl::StatusOr<std::unique_ptr<OpenSearchMirror>> OpenSearchMirror::Create(
    MirrorOptions options, const base::Clock& clock, metrics::Registry* metrics) {
  RETURN_IF_ERROR(ValidateIndexPrefix(options.index_prefix));
  ASSIGN_OR_RETURN(auto client, OpenSearchClient::Create(options.addresses, {}, clock));
  return std::make_unique<Mirror>(std::move(options), std::move(client), clock, metrics);
}

}  // namespace search
