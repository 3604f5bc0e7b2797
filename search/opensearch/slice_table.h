// The slices that a mirror knows, and which of them have to be compared with their documents.
#ifndef SEARCH_OPENSEARCH_SLICE_TABLE_H_
#define SEARCH_OPENSEARCH_SLICE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "search/opensearch/mirror.h"

namespace search {

// Where the documents of a slice lie: a cluster and an index.
using SlicePlace = std::pair<std::string, std::string>;

struct SliceState {
  int64_t number = 0;  // Never used again for another slice.
  Slice slice;         // Without a kind if nobody has named it.
  std::string index;
  std::shared_ptr<SliceSource> source;  // nullptr: the slice has left.
  // It has begun its first comparison, so that events count.
  bool live = false;
  bool dirty = true;  // It has to be compared, at `due`.
  // It was compared after everything that is known to have changed unseen. Periodic comparisons do
  // not end that.
  bool reconciled = false;
  base::SteadyTime due = base::SteadyTime::InfinitePast();
  base::SteadyTime compared = base::SteadyTime::InfinitePast();  // When it was, last.
  int64_t epoch = 0;
  std::string error;  // Why its last comparison failed; "" if it did not.
  int postponed = 0;  // How often that happened in a row.
};

// Not thread-safe. Pointers are valid until the slice is erased.
class SliceTable {
 public:
  explicit SliceTable(std::string prefix) : prefix_(std::move(prefix)) {}

  // The slice is there, with this source, and has to be compared.
  SliceState& Join(const Slice& slice, std::shared_ptr<SliceSource> source);
  // The slice has left: its documents have to be deleted. Returns its number; nullopt if it was not
  // there.
  std::optional<int64_t> Leave(const Slice& slice);

  // What should be there. `found` are places that have documents; those of slices that nobody
  // expects become slices that have left.
  void SetScope(const std::vector<Slice>& slices);
  void RemoveFromScope(const Slice& slice);
  bool has_scope() const { return scope_.has_value(); }
  void AddLeftovers(const std::vector<SlicePlace>& found);

  SliceState* Find(int64_t number);
  const SliceState* Find(int64_t number) const;
  SliceState* Find(const Slice& slice);
  const SliceState* Find(const Slice& slice) const;
  void Erase(int64_t number);
  // Erases all slices, and the scope.
  void Clear();
  // The slice that has to be compared first; nullptr if none has to be.
  SliceState* NextDirty();
  // Makes slices dirty whose time has come again.
  void MarkDue(base::SteadyTime now);
  void MarkAllDirty();
  base::SteadyTime NextDue() const;
  // At most `max` slices with an error.
  std::vector<MirrorStatus::FailingSlice> Failing(size_t max) const;
  size_t size() const { return states_.size(); }
  size_t dirty() const;
  size_t unreconciled() const;
  // Slices of the scope that are not there.
  size_t unlisted() const;

 private:
  SlicePlace PlaceOf(const Slice& slice) const;
  SliceState& Create(const Slice& slice, const SlicePlace& place);

  const std::string prefix_;
  int64_t next_number_ = 1;
  std::map<int64_t, SliceState> states_;
  std::map<SlicePlace, int64_t> by_place_;
  std::map<Slice, int64_t> by_slice_;  // Those with a source.
  std::optional<std::set<SlicePlace>> scope_;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_SLICE_TABLE_H_
