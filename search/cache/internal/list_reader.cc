// The clusters are read one after the other, each at one version. When the page is full, the token
// names the cluster and the key where the next one begins, and the versions of all clusters, also
// of those that come later: all pages show the same state, which the caches can give as long as
// their histories go back to it. A cluster that has left between two pages ends the list with a
// 410: without it, a part of its objects would be missing, and nothing in the answer would show
// that.

#include "search/cache/internal/list_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace search::internal {
namespace {

using kube::ObjectPtr;
using kube::WatchCache;

// How many objects are looked at before the selected ones are counted.
constexpr size_t kChunk = 1000;

// The smallest key behind that of the object.
kube::ObjectKey After(const kube::Object& object) {
  kube::ObjectKey key = object.key();
  key.name += '\0';
  return key;
}

}  // namespace

ListReader::ListReader(const ListRequest& request)
    : request_(request),
      token_(ContinueToken::Parse(request.continue_token)),
      member_token_(MemberToken::Parse(token_.of_member)),
      base_(CompositeVersion::Parse(token_.empty() ? request.resource_version : token_.version)),
      fixed_(request.exact || !token_.empty()) {}

absl::StatusOr<ListAnswer> ListReader::Read(const std::vector<MemberCachePtr>& caches) {
  RETURN_IF_ERROR(CheckToken());
  RETURN_IF_ERROR(CheckClusters(caches));
  for (const MemberCachePtr& member : caches) {
    if (!member->cache()->HasSynced()) {
      answer_.missing.push_back(member->Missing());
    } else if (full()) {
      // The page is full; the clusters behind it only tell how much is left, and the version in the
      // token.
      RETURN_IF_ERROR(CountCluster(*member));
    } else {
      RETURN_IF_ERROR(ReadCluster(*member));
    }
  }
  answer_.version = VersionOfList(caches).ToString();
  if (!next_.empty()) {
    next_.version = version_.ToString();
    answer_.continue_token = next_.ToString();
  }
  if (request_.filter.empty()) answer_.remaining = remaining_;
  return std::move(answer_);
}

CompositeVersion ListReader::VersionOfList(const std::vector<MemberCachePtr>& caches) const {
  CompositeVersion version = version_;
  for (const MemberCachePtr& member : caches) {
    const int64_t shown = version_.Number(member->cluster());
    const int narrowings = shown < 0 ? 0 : member->cache()->NarrowingsAt(shown);
    if (narrowings > 0) version.Set(member->cluster(), shown, narrowings);
  }
  return version;
}

// A list that began again instead would never end for a client that reads page after page.
absl::Status ListReader::CheckToken() const {
  const bool is_unknown = token_.empty() && !request_.continue_token.empty();
  const bool is_incomplete = !token_.of_member.empty() && !member_token_.has_value();
  if (!is_unknown && !is_incomplete) return absl::OkStatus();
  return absl::InvalidArgumentError("continue token: it is not one of a list like this one");
}

absl::Status ListReader::CheckClusters(const std::vector<MemberCachePtr>& caches) const {
  if (!fixed_) return absl::OkStatus();
  for (const auto& [cluster, version] : base_.versions()) {
    if (!request_.cluster.Selects(cluster)) continue;
    const bool is_cached = std::any_of(
        caches.begin(), caches.end(),
        [&name = cluster](const MemberCachePtr& member) { return member->cluster() == name; });
    if (is_cached) continue;
    return absl::OutOfRangeError(
        absl::StrCat("too old resource version: cluster ", cluster, " is not cached any more"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ListReader::VersionOf(const MemberCache& member) const {
  const int64_t asked = base_.Number(member.cluster());
  const int64_t present = member.cache()->progress().version;
  if (asked > present) {
    return absl::DeadlineExceededError(absl::StrCat("Too large resource version: ", asked,
                                                    ", current: ", present, " (cluster ",
                                                    member.cluster(), ")"));
  }
  // 0 stands for any version.
  return fixed_ && asked > 0 ? asked : -1;
}

kube::ObjectKey ListReader::Start(const MemberCache& member) const {
  if (member.cluster() != token_.cluster || !member_token_.has_value()) return {};
  const std::string& start = member_token_->start;
  if (!member.resource().namespaced) return {"", start};
  if (!request_.ns.empty()) return {request_.ns, start};
  const size_t slash = std::min(start.find('/'), start.size());
  return {start.substr(0, slash), slash == start.size() ? "" : start.substr(slash + 1)};
}

absl::Status ListReader::ReadCluster(const MemberCache& member) {
  if (member.cluster() < token_.cluster) {
    // Earlier pages have had it. Its version must stay in the token.
    version_.Set(member.cluster(), base_.Get(member.cluster()));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t version, VersionOf(member));
  WatchCache::Range range{.ns = request_.ns, .from = Start(member), .version = version};
  if (request_.limit == 0 && request_.filter.empty()) {
    ASSIGN_OR_RETURN(const WatchCache::Snapshot all, member.cache()->Read(range));
    version_.Set(member.cluster(), all.version);
    answer_.parts.push_back({member.cluster(), all.objects});
    return absl::OkStatus();
  }
  // The first read determines the version of the following ones.
  range.limit = request_.limit == 0 ? 0 : std::max(kChunk, request_.limit - count_);
  if (request_.filter.empty() && request_.limit > 0) range.limit = request_.limit - count_;
  std::vector<ObjectPtr> found;
  while (true) {
    if (request_.stop.stop_requested()) return absl::CancelledError("nobody waits for the list");
    ASSIGN_OR_RETURN(const WatchCache::Snapshot some, member.cache()->Read(range));
    range.version = some.version;
    version_.Set(member.cluster(), some.version);
    for (const ObjectPtr& object : *some.objects) {
      if (full()) break;
      range.from = After(*object);
      if (!request_.filter.Matches(kube::Encoded(*object))) continue;
      found.push_back(object);
      ++count_;
    }
    const bool more = some.remaining > 0 ||
                      (!some.objects->empty() && range.from != After(*some.objects->back()));
    if (full() && more) {
      EndPageAt(member, range);
      remaining_ += some.remaining;
    }
    if (full() || !more) break;
  }
  answer_.parts.push_back(
      {member.cluster(), std::make_shared<const std::vector<ObjectPtr>>(std::move(found))});
  return absl::OkStatus();
}

void ListReader::EndPageAt(const MemberCache& member, const WatchCache::Range& range) {
  const bool short_key = !request_.ns.empty() || !member.resource().namespaced;
  MemberToken token{range.version, short_key ? range.from.name
                                             : absl::StrCat(range.from.ns, "/", range.from.name)};
  next_.cluster = member.cluster();
  next_.of_member = token.ToString();
}

absl::Status ListReader::CountCluster(const MemberCache& member) {
  ASSIGN_OR_RETURN(const int64_t version, VersionOf(member));
  ASSIGN_OR_RETURN(const WatchCache::Count count, member.cache()->CountAt(request_.ns, version));
  version_.Set(member.cluster(), count.version);
  const size_t size = count.objects;
  remaining_ += size;
  if (size > 0 && next_.empty()) next_.cluster = member.cluster();
  return absl::OkStatus();
}

}  // namespace search::internal
