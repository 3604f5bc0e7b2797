// The jobs of the mirror's thread, apart from writing (mirror_writes.cc); mirror.cc chooses which
// is next and says what that guarantees. Prepare: read the credentials, look where the addresses
// lead and claim that OpenSearch, find out whose control plane this is, ensure the index template.
// FindLeftovers: add the slices that have documents but that nobody expects. Compare: take the
// slice that is due, and put into the queue what its documents lack; or delete all documents of a
// slice that has left.
//
// Requests are made without mu_. A job copies what it needs under mu_, sends, and under mu_ again
// looks whether the slice is still there with the same source before it uses the answer: the
// cache's handlers may have changed everything meanwhile. What is marked as done before a request
// (dirty, scope_due_) is marked again by whatever happens during it. All state is memory; after a
// restart every slice is compared once, which writes nothing where nothing is missing.

#include "search/opensearch/mirror_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "search/opensearch/document.h"
#include "search/opensearch/index_template.h"
#include "search/opensearch/slice_places.h"

namespace search {
namespace {

constexpr double kJitter = 0.3;
// How long a slice waits whose source has no snapshot, or whose index does not answer: at first,
// and at most when that has happened again and again.
constexpr absl::Duration kSliceRetry = absl::Seconds(2);
constexpr absl::Duration kLongestSliceRetry = absl::Minutes(1);

// Whether the error concerns OpenSearch as a whole, or may do so.
bool IsOfServer(const absl::Status& error) {
  return error.code() != absl::StatusCode::kInvalidArgument &&
         error.code() != absl::StatusCode::kPermissionDenied &&
         error.code() != absl::StatusCode::kFailedPrecondition;
}

}  // namespace

absl::Status Mirror::ReadCredentials() {
  {
    absl::MutexLock lock(&mu_);
    credentials_due_ = clock_.SteadyNow() + base::Jitter(options_.credentials_period, kJitter);
  }
  if (options_.credentials == nullptr) return absl::OkStatus();
  auto credentials = options_.credentials();
  if (absl::IsPermissionDenied(credentials.status())) {
    // They must not be used any more.
    has_credentials_ = false;
    RETURN_IF_ERROR(client_->SetCredentials({}));
    return base::Annotate(credentials.status(), "credentials of OpenSearch");
  }
  if (!credentials.ok()) {
    // Old ones may still do; new ones are read again soon.
    if (has_credentials_) return absl::OkStatus();
    return base::Annotate(credentials.status(), "credentials of OpenSearch");
  }
  RETURN_IF_ERROR(client_->SetCredentials(*credentials));
  has_credentials_ = true;
  absl::MutexLock lock(&mu_);
  look_at_ = base::SteadyTime::InfinitePast();  // They may open the door to another server.
  return absl::OkStatus();
}

absl::Status Mirror::Prepare() {
  RETURN_IF_ERROR(ReadCredentials());
  RETURN_IF_ERROR(Look());
  if (options_.owner && owner_.empty()) {
    auto owner = options_.owner(stop());
    RETURN_IF_ERROR(base::Annotate(owner.status(), "the identity of the control plane"));
    owner_ = *std::move(owner);
  }
  ASSIGN_OR_RETURN(const bool put, EnsureTemplate(*client_, options_.index_prefix, owner_, stop()));
  // The server may be another one than before, or its indices may have been deleted.
  ensured_.clear();
  absl::MutexLock lock(&mu_);
  prepare_at_ = clock_.SteadyNow() + base::Jitter(options_.reconcile_period, kJitter);
  // Another template may accept what the old one refused, and another server lacks everything.
  if (put) slices_.MarkAllDirty();
  prepared_ = is_ours_ = true;
  return absl::OkStatus();
}

// An address that has not answered for a while may lead to another OpenSearch when it does, and so
// may one whose name was moved. So nothing is sent to an address before it was looked at, and those
// in use are looked at again and again.
absl::Status Mirror::Look() {
  {
    absl::MutexLock lock(&mu_);
    look_at_ = clock_.SteadyNow() + base::Jitter(options_.look_period, kJitter);
  }
  const std::vector<size_t> positions = client_->WorthALook();
  absl::Status status = LookAt(positions);
  if (!status.ok() && !absl::IsCancelled(status)) {
    for (const size_t position : positions) client_->SetAdmitted(position, false);
  }
  return status;
}

absl::Status Mirror::LookAt(const std::vector<size_t>& positions) {
  ASSIGN_OR_RETURN(const ClusterLook look, LookAtClusters(*client_, positions, stop()));
  ClusterGrant grant;
  for (const auto& [address, id] : look.ids) grant.addresses.insert(address);
  if (options_.claim) {
    ASSIGN_OR_RETURN(grant, options_.claim(look.ids));
  }
  return Use(positions, look, grant);
}

absl::Status Mirror::Use(const std::vector<size_t>& positions, const ClusterLook& look,
                         const ClusterGrant& grant) {
  absl::MutexLock lock(&mu_);
  for (const size_t position : positions) {
    const std::string& address = client_->addresses()[position];
    const std::string shown = kube::WithoutUserInfo(address);
    const bool granted = grant.addresses.contains(address);
    client_->SetAdmitted(position, granted);
    const auto id = look.ids.find(address);
    const auto unfit = look.unfit.find(address);
    if (granted) counts_.unused.erase(shown);
    if (unfit != look.unfit.end()) counts_.unused[shown] = unfit->second;
    if (!granted && id != look.ids.end()) {
      counts_.unused[shown] = absl::StrCat("it leads to the OpenSearch cluster ", id->second);
    }
  }
  if (counts_.cluster_uuid != grant.cluster_uuid) {
    // What is known of its documents was read from another OpenSearch.
    counts_.cluster_uuid = grant.cluster_uuid;
    slices_.MarkAllDirty();
    scope_due_ = slices_.has_scope();
    prepared_ = is_ours_ = false;
  }
  if (!grant.addresses.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no address that answers leads to the OpenSearch cluster ", grant.cluster_uuid));
}

absl::Status Mirror::FindLeftovers() {
  {
    // Before the look: what is reported meanwhile makes it necessary again.
    absl::MutexLock lock(&mu_);
    scope_due_ = false;
  }
  auto places = ReadPlaces(*client_, options_.index_prefix, stop());
  absl::MutexLock lock(&mu_);
  scope_at_ = clock_.SteadyNow() + base::Jitter(options_.reconcile_period, kJitter);
  if (!places.ok()) {
    scope_due_ = slices_.has_scope();
    return places.status();
  }
  slices_.AddLeftovers(*places);
  return absl::OkStatus();
}

absl::Status Mirror::Compare() {
  SliceState slice;
  {
    absl::MutexLock lock(&mu_);
    SliceState* const next = slices_.NextDirty();
    if (next == nullptr) return absl::OkStatus();
    next->live = next->source != nullptr;
    // What is reported from now on makes it dirty again.
    next->dirty = false;
    next->compared = clock_.SteadyNow();
    next->due = next->compared + base::Jitter(options_.reconcile_period, kJitter);
    slice = *next;
  }
  const absl::Status status = slice.source == nullptr ? Purge(slice) : CompareLive(slice);
  if (status.ok()) return status;
  Postpone(slice.number, std::string(status.message()));
  // An error of this index alone must not hold up the other slices.
  return IsOfServer(status) ? status : absl::OkStatus();
}

void Mirror::Postpone(int64_t slice, const std::string& reason) {
  absl::MutexLock lock(&mu_);
  SliceState* const state = slices_.Find(slice);
  if (state == nullptr) return;
  state->dirty = true;
  const absl::Duration wait = kSliceRetry * (int64_t{1} << std::min(state->postponed++, 8));
  state->due = clock_.SteadyNow() + base::Jitter(std::min(wait, kLongestSliceRetry), kJitter);
  state->error = reason;
}

absl::Status Mirror::CompareLive(const SliceState& slice) {
  auto snapshot = slice.source->Snapshot();
  if (!snapshot.ok()) {
    Postpone(slice.number, std::string(snapshot.status().message()));
    return absl::OkStatus();
  }
  if (!snapshot->objects.empty()) RETURN_IF_ERROR(EnsureIndex(slice.index));
  ASSIGN_OR_RETURN(
      const std::vector<StoredDocument> stored,
      ReadStored(*client_, slice.index, slice.slice.cluster, options_.page_size, stop()));
  ASSIGN_OR_RETURN(const SliceDifference difference, Difference(slice, *snapshot, stored));
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  SliceState* const state = slices_.Find(slice.number);
  // Another source may have another scope, and is compared next.
  if (state == nullptr || state->source != slice.source) return absl::OkStatus();
  state->epoch = difference.epoch;
  state->error.clear();
  state->postponed = 0;
  // Unless the cache has listed it again meanwhile.
  state->reconciled = !state->dirty;
  ForgetDeadLetters(slice.number, *snapshot);
  for (const MirroredObject* object : difference.to_write) {
    queue_.PutIfAbsent({slice.number, object->uid},
                       {.resource_version = object->resource_version,
                        .json = object->json,
                        .also_equal = true,
                        .compared = true},
                       now);
  }
  for (const StoredDocument* document : difference.to_delete) {
    queue_.PutIfAbsent({slice.number, document->uid},
                       {.exact_version = document->version.Encode(), .compared = true}, now);
  }
  return absl::OkStatus();
}

// Forgets those of objects that are gone; the others are tried again.
void Mirror::ForgetDeadLetters(int64_t slice, const SliceSnapshot& snapshot) {
  if (dead_.empty()) return;
  absl::flat_hash_set<absl::string_view> there;
  for (const MirroredObject& object : snapshot.objects) there.insert(object.uid);
  absl::erase_if(dead_, [&](const auto& entry) {
    return entry.first.slice == slice && !there.contains(entry.first.uid);
  });
}

absl::StatusOr<SliceDifference> Mirror::Difference(const SliceState& slice,
                                                   const SliceSnapshot& snapshot,
                                                   const std::vector<StoredDocument>& stored) {
  SliceDifference difference = CompareSlice(snapshot, stored, slice.epoch);
  if (difference.ahead == 0) return difference;
  // A document is newer than the cache. Either the cache is behind (another replica has written
  // it), or the member was restored from a backup; only the member's own server tells which. When
  // it does not answer, nothing is decided, and the next comparison asks again.
  const auto version = slice.source->ServerVersion(stop());
  if (!version.ok() || *version >= difference.ahead) return difference;
  base::LogWarning("the versions of a member went back: its documents are written again",
                   {{"cluster", slice.slice.cluster},
                    {"kind", slice.slice.kind.ToString()},
                    {"server", *version},
                    {"document", difference.ahead}});
  return CompareSlice(snapshot, stored, NextEpoch(difference.epoch));
}

// Made here and not by the first write, because OpenSearch may be told not to make indices by
// itself.
absl::Status Mirror::EnsureIndex(const std::string& index) {
  if (ensured_.contains(index)) return absl::OkStatus();
  const std::string path = absl::StrCat("/", index);
  ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                   client_->Send({.method = "PUT", .path = path}, stop()));
  const std::string type = answer.body.Get({"error", "type"}).ToString();
  if (type != "resource_already_exists_exception") {
    RETURN_IF_ERROR(base::Annotate(StatusOf(answer), "PUT ", path));
  }
  ensured_.insert(index);
  return absl::OkStatus();
}

absl::Status Mirror::Purge(const SliceState& slice) {
  ASSIGN_OR_RETURN(
      const std::vector<StoredDocument> stored,
      ReadStored(*client_, slice.index, slice.slice.cluster, options_.page_size, stop()));
  std::vector<BulkWrite> writes;
  for (const StoredDocument& document : stored) {
    writes.push_back({.index = slice.index,
                      .id = DocumentId(slice.slice.cluster, document.uid),
                      .version = document.version.Encode()});
  }
  int64_t deleted = 0;
  int64_t kept = 0;
  std::string reason;
  absl::Status overload;
  const absl::Span<const BulkWrite> all(writes);
  // In parts, until OpenSearch says that it has too much to do.
  for (size_t begin = 0; begin < all.size() && overload.ok(); begin += options_.bulk_writes) {
    ASSIGN_OR_RETURN(const std::vector<WriteResult> results,
                     Send(all.subspan(begin, options_.bulk_writes)));
    for (const WriteResult& result : results) {
      ++(result.outcome == WriteOutcome::kDone ? deleted : kept);
      if (result.outcome != WriteOutcome::kDone) reason = result.reason;
      if (result.overloaded) overload = absl::ResourceExhaustedError(result.reason);
    }
  }
  // Another replica may still write them. An overload is returned to Compare, which postpones, too.
  if (kept > 0 && overload.ok()) Postpone(slice.number, reason);
  absl::MutexLock lock(&mu_);
  counts_.deleted += deleted;
  if (kept > 0) return overload;
  SliceState* const state = slices_.Find(slice.number);
  // It may have joined again meanwhile.
  if (state != nullptr && state->source == nullptr) slices_.Erase(slice.number);
  return absl::OkStatus();
}

}  // namespace search
