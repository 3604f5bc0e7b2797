// The jobs of the mirror's thread that take from the queue and settle what OpenSearch answers.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "search/opensearch/bulk_writer.h"
#include "search/opensearch/document.h"
#include "search/opensearch/document_version.h"
#include "search/opensearch/mirror_jobs.h"

namespace search {
namespace {

// Reasons are long, and as many documents may be refused as there are objects.
constexpr size_t kMaxReasons = 1000;

}  // namespace

absl::Status Mirror::WriteBatch() {
  std::vector<WriteQueue::Item> items;
  {
    absl::MutexLock lock(&mu_);
    items = queue_.Take(options_.bulk_writes, clock_.SteadyNow());
    compared_in_flight_ = static_cast<size_t>(
        std::count_if(items.begin(), items.end(),
                      [](const WriteQueue::Item& item) { return item.second.compared; }));
  }
  const absl::Status status = WriteItems(std::move(items));
  absl::MutexLock lock(&mu_);
  compared_in_flight_ = 0;  // Those of slices that have left were neither settled nor put back.
  return status;
}

absl::Status Mirror::Encode(const WriteQueue::Item& item, const SliceState& slice,
                            BulkWrite& write) {
  const auto& [key, pending] = item;
  write.index = slice.index;
  write.id = DocumentId(slice.slice.cluster, key.uid);
  write.also_equal = pending.also_equal;
  DocumentVersion version = {.epoch = slice.epoch,
                             .resource_version = pending.resource_version,
                             .schema = DocumentVersion::kDeletion};
  if (pending.json != nullptr) {
    version.schema = kDocumentSchema;
    ASSIGN_OR_RETURN(json::Value root, json::Parse(pending.json()));
    json::Value document = MakeDocument(slice.slice.cluster, slice.slice.kind,
                                        kube::Object(std::move(root)), clock_.Now());
    document.Set("uid", key.uid);  // By which comparisons find it, whatever the object says.
    write.document = json::Write(document);
  }
  write.version = pending.exact_version.value_or(version.Encode());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WriteResult>> Mirror::Send(absl::Span<const BulkWrite> writes) {
  {
    absl::MutexLock lock(&mu_);
    sent_at_ = clock_.SteadyNow();
  }
  auto results = SendWrites(*client_, writes, options_.request_timeout, stop());
  absl::MutexLock lock(&mu_);
  sent_at_ = base::SteadyTime::InfiniteFuture();
  return results;
}

// Sends the items in requests of bulk_bytes. Of each item either the result is settled, or it is
// back in the queue.
absl::Status Mirror::WriteItems(std::vector<WriteQueue::Item> items) {
  size_t next = 0;
  while (next < items.size()) {
    std::vector<BulkWrite> writes;
    std::vector<WriteQueue::Item> sent;
    for (size_t bytes = 0; next < items.size() && bytes < options_.bulk_bytes; ++next) {
      WriteQueue::Item& item = items[next];
      SliceState slice;
      {
        absl::MutexLock lock(&mu_);
        const SliceState* found = slices_.Find(item.first.slice);
        if (found == nullptr || !found->live) continue;
        slice = *found;
      }
      BulkWrite write;
      if (const absl::Status status = Encode(item, slice, write); !status.ok()) {
        absl::MutexLock lock(&mu_);
        Settle(std::move(item), {WriteOutcome::kRefused, std::string(status.message())});
        continue;
      }
      bytes += write.document.size();
      writes.push_back(std::move(write));
      sent.push_back(std::move(item));
    }
    auto results = Send(writes);
    if (!results.ok()) {
      std::move(items.begin() + static_cast<std::ptrdiff_t>(next), items.end(),
                std::back_inserter(sent));
      PutBackAll(std::move(sent));
      return results.status();
    }
    const absl::Status overload = SettleAll(std::move(sent), writes, *results);
    if (overload.ok()) continue;
    absl::MutexLock lock(&mu_);
    for (; next < items.size(); ++next) PutBack(std::move(items[next]), clock_.SteadyNow());
    return overload;
  }
  return absl::OkStatus();
}

// An error when OpenSearch is overloaded: then what was not sent has to wait, too.
absl::Status Mirror::SettleAll(std::vector<WriteQueue::Item> sent,
                               const std::vector<BulkWrite>& writes,
                               const std::vector<WriteResult>& results) {
  absl::Status status;
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < sent.size(); ++i) {
    const WriteResult& result = results[i];
    if (result.overloaded) status = absl::ResourceExhaustedError(result.reason);
    if (result.outcome == WriteOutcome::kConflict && result.current_version != writes[i].version) {
      CompareSoon(sent[i]);
    }
    Settle(std::move(sent[i]), result);
  }
  return status;
}

void Mirror::CompareSoon(const WriteQueue::Item& item) {
  SliceState* const state = slices_.Find(item.first.slice);
  if (state == nullptr) return;
  // What the comparison has found is still so: a trace of a deletion refuses the write for a
  // minute, or another replica is ahead.
  if (item.second.compared) state->reconciled = false;
  const base::SteadyTime earliest = state->compared + options_.conflict_period;
  state->due = std::min(state->due, std::max(earliest, clock_.SteadyNow()));
}

void Mirror::PutBackAll(std::vector<WriteQueue::Item> items) {
  absl::MutexLock lock(&mu_);
  counts_.retries += static_cast<int64_t>(items.size());
  for (WriteQueue::Item& item : items) PutBack(std::move(item), clock_.SteadyNow());
}

void Mirror::PutBack(WriteQueue::Item item, base::SteadyTime at) {
  if (item.second.compared) --compared_in_flight_;
  const SliceState* slice = slices_.Find(item.first.slice);
  if (slice != nullptr && slice->live) queue_.PutBack(std::move(item), at);
}

void Mirror::Settle(WriteQueue::Item item, const WriteResult& result) {
  if (item.second.compared) --compared_in_flight_;
  SliceState* const slice = slices_.Find(item.first.slice);
  // It has left meanwhile; if it has joined again, it is going to be compared.
  if (slice == nullptr || !slice->live) return;
  dead_.erase(item.first);
  switch (result.outcome) {
    case WriteOutcome::kDone:
      ++(item.second.json == nullptr ? counts_.deleted : counts_.written);
      return;
    case WriteOutcome::kConflict:
      ++counts_.conflicts;
      return;
    case WriteOutcome::kRefused:
      // The status shows a few of them.
      dead_.emplace(std::move(item.first), dead_.size() < kMaxReasons ? result.reason : "");
      return;
    case WriteOutcome::kRetry:
      ++counts_.retries;
      counts_.retry_reason = result.reason;
      // The comparison makes the index.
      if (absl::StartsWith(result.reason, "index_not_found_exception")) {
        ensured_.erase(slice->index);
        slice->reconciled = false;
        slice->dirty = true;
        slice->due = base::SteadyTime::InfinitePast();
      }
      const base::SteadyTime at = clock_.SteadyNow() + Backoff(item.second.attempts++);
      queue_.PutBack(std::move(item), at);
      return;
  }
}

}  // namespace search
