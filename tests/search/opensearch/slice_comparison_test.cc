#include "search/opensearch/slice_comparison.h"

#include <catch2/catch.hpp>

#include "search/opensearch/document.h"

namespace tests {
namespace {

using search::CompareSlice;
using search::StoredDocument;

StoredDocument Stored(const std::string& uid, int64_t version, int64_t epoch = 0,
                      int64_t schema = search::kDocumentSchema) {
  return {uid, {epoch, version, schema}};
}

search::SliceSnapshot Snapshot(int64_t known,
                               const std::vector<std::pair<std::string, int64_t>>& objects) {
  search::SliceSnapshot snapshot{.known_version = known};
  for (const auto& [uid, version] : objects) snapshot.objects.push_back({uid, version, nullptr});
  return snapshot;
}

std::vector<std::string> Written(const search::SliceDifference& difference) {
  std::vector<std::string> uids;
  for (const auto* object : difference.to_write) uids.push_back(object->uid);
  return uids;
}

std::vector<std::string> Deleted(const search::SliceDifference& difference) {
  std::vector<std::string> uids;
  for (const auto* document : difference.to_delete) uids.push_back(document->uid);
  return uids;
}

using Uids = std::vector<std::string>;

TEST_CASE("Missing and old documents are written, orphans deleted") {
  const auto snapshot = Snapshot(30, {{"same", 5}, {"newer", 9}, {"missing", 30}, {"schema", 6}});
  const std::vector<StoredDocument> stored = {Stored("same", 5), Stored("newer", 8),
                                              Stored("schema", 6, 0, 0), Stored("orphan", 30)};
  const auto difference = CompareSlice(snapshot, stored, 0);
  CHECK(Written(difference) == Uids{"newer", "missing", "schema"});
  CHECK(Deleted(difference) == Uids{"orphan"});
  CHECK(difference.epoch == 0);
  CHECK(difference.ahead == 0);
}

TEST_CASE("Documents that are newer than the snapshot knows are left alone, and reported") {
  const auto snapshot = Snapshot(30, {{"changed", 5}});
  const std::vector<StoredDocument> stored = {Stored("changed", 31), Stored("created", 32)};
  const auto difference = CompareSlice(snapshot, stored, 0);
  CHECK(Written(difference).empty());
  CHECK(Deleted(difference).empty());
  CHECK(difference.ahead == 32);
}

TEST_CASE("A document that contradicts the snapshot begins a new epoch") {
  // Had the object been changed at 20, a cache that knows everything up to 30 would have that.
  const auto snapshot = Snapshot(30, {{"a", 5}, {"b", 6}});
  const std::vector<StoredDocument> stored = {Stored("a", 20), Stored("b", 6), Stored("c", 900)};
  const auto difference = CompareSlice(snapshot, stored, 0);
  CHECK(difference.epoch == 1);
  CHECK(Written(difference) == Uids{"a", "b"});
  CHECK(Deleted(difference) == Uids{"c"});
}

TEST_CASE("Objects without a number as version are written each time") {
  const auto snapshot = Snapshot(30, {{"a", 0}});
  const auto difference = CompareSlice(snapshot, {Stored("a", 0)}, 0);
  CHECK(Written(difference) == Uids{"a"});
  CHECK(difference.epoch == 0);
}

TEST_CASE("The last epoch has no successor") {
  const int64_t last = search::DocumentVersion::kMaxEpoch;
  const auto snapshot = Snapshot(30, {{"a", 5}});
  const auto difference = CompareSlice(snapshot, {Stored("a", 20, last)}, 0);
  CHECK(difference.epoch == last);
  CHECK(Written(difference).empty());
}

TEST_CASE("The epoch of the documents is taken over") {
  const auto snapshot = Snapshot(30, {{"a", 5}, {"b", 6}});
  const std::vector<StoredDocument> stored = {Stored("a", 5, 2), Stored("b", 900, 1),
                                              Stored("c", 900, 1)};
  const auto difference = CompareSlice(snapshot, stored, 0);
  CHECK(difference.epoch == 2);
  CHECK(Written(difference) == Uids{"b"});
  CHECK(Deleted(difference) == Uids{"c"});
  CHECK(difference.ahead == 0);
  // An epoch that the mirror knows and no document has yet.
  CHECK(CompareSlice(snapshot, stored, 7).epoch == 7);
}

}  // namespace
}  // namespace tests
