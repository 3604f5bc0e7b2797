// A slice is found by its number (which jobs keep while they do without the lock), by its place
// (cluster and index), and, while it has a source, by cluster and kind. A slice that leaves keeps
// its entry without a source until its documents are deleted (Erase); if it joins again before
// that, it gets the same entry and number back. Places that have documents but that neither the
// scope nor an entry knows become entries without a kind.
//
// `dirty` says that a comparison is needed, `due` when; `reconciled` that one has succeeded since
// the last event that could have been missed. The table is memory: after a restart every slice
// joins as dirty, and leftovers are found by a search.

#include "search/opensearch/slice_table.h"

#include <algorithm>

#include "search/opensearch/document.h"

namespace search {

SlicePlace SliceTable::PlaceOf(const Slice& slice) const {
  return {slice.cluster, IndexName(prefix_, slice.kind)};
}

SliceState& SliceTable::Create(const Slice& slice, const SlicePlace& place) {
  const int64_t number = next_number_++;
  by_place_[place] = number;
  SliceState& state = states_[number];
  state.number = number;
  state.slice = slice;
  state.index = place.second;
  return state;
}

SliceState& SliceTable::Join(const Slice& slice, std::shared_ptr<SliceSource> source) {
  const SlicePlace place = PlaceOf(slice);
  const auto found = by_place_.find(place);
  SliceState& state = found == by_place_.end() ? Create(slice, place) : states_[found->second];
  // A leftover of an earlier process has no kind until now.
  state.slice = slice;
  state.source = std::move(source);
  state.reconciled = false;
  state.dirty = true;
  state.due = base::SteadyTime::InfinitePast();
  state.postponed = 0;
  by_slice_[slice] = state.number;
  return state;
}

std::optional<int64_t> SliceTable::Leave(const Slice& slice) {
  RemoveFromScope(slice);
  const auto found = by_slice_.find(slice);
  if (found == by_slice_.end()) return std::nullopt;
  SliceState& state = states_[found->second];
  by_slice_.erase(found);
  state.source = nullptr;
  state.live = false;
  state.reconciled = false;
  state.dirty = true;
  state.due = base::SteadyTime::InfinitePast();
  state.postponed = 0;
  return state.number;
}

void SliceTable::SetScope(const std::vector<Slice>& slices) {
  scope_.emplace();
  for (const Slice& slice : slices) scope_->insert(PlaceOf(slice));
}

void SliceTable::RemoveFromScope(const Slice& slice) {
  if (scope_.has_value()) scope_->erase(PlaceOf(slice));
}

void SliceTable::AddLeftovers(const std::vector<SlicePlace>& found) {
  for (const SlicePlace& place : found) {
    // Without a scope nothing is known to be wrong: what the caches list later must not be deleted
    // first.
    if (!scope_.has_value() || scope_->contains(place) || by_place_.contains(place)) continue;
    Create({.cluster = place.first}, place);
  }
}

SliceState* SliceTable::Find(int64_t number) {
  const auto found = states_.find(number);
  return found == states_.end() ? nullptr : &found->second;
}

const SliceState* SliceTable::Find(int64_t number) const {
  const auto found = states_.find(number);
  return found == states_.end() ? nullptr : &found->second;
}

SliceState* SliceTable::Find(const Slice& slice) {
  const auto found = by_slice_.find(slice);
  return found == by_slice_.end() ? nullptr : &states_.at(found->second);
}

const SliceState* SliceTable::Find(const Slice& slice) const {
  const auto found = by_slice_.find(slice);
  return found == by_slice_.end() ? nullptr : &states_.at(found->second);
}

void SliceTable::Erase(int64_t number) {
  const auto found = states_.find(number);
  if (found == states_.end()) return;
  by_place_.erase({found->second.slice.cluster, found->second.index});
  states_.erase(found);
}

void SliceTable::Clear() {
  states_.clear();
  by_place_.clear();
  by_slice_.clear();
  scope_.reset();
}

SliceState* SliceTable::NextDirty() {
  SliceState* first = nullptr;
  for (auto& [number, state] : states_) {
    if (state.dirty && (first == nullptr || state.due < first->due)) first = &state;
  }
  return first;
}

void SliceTable::MarkDue(base::SteadyTime now) {
  for (auto& [number, state] : states_) state.dirty = state.dirty || state.due <= now;
}

void SliceTable::MarkAllDirty() {
  for (auto& [number, state] : states_) {
    state.reconciled = false;
    state.dirty = true;
    state.due = base::SteadyTime::InfinitePast();
    state.postponed = 0;
  }
}

base::SteadyTime SliceTable::NextDue() const {
  base::SteadyTime next = base::SteadyTime::InfiniteFuture();
  for (const auto& [number, state] : states_) next = std::min(next, state.due);
  return next;
}

std::vector<MirrorStatus::FailingSlice> SliceTable::Failing(size_t max) const {
  std::vector<MirrorStatus::FailingSlice> failing;
  for (const auto& [number, state] : states_) {
    if (failing.size() == max) break;
    if (!state.error.empty()) failing.push_back({state.slice, state.error});
  }
  return failing;
}

size_t SliceTable::dirty() const {
  return static_cast<size_t>(std::count_if(states_.begin(), states_.end(),
                                           [](const auto& entry) { return entry.second.dirty; }));
}

size_t SliceTable::unreconciled() const {
  return static_cast<size_t>(std::count_if(
      states_.begin(), states_.end(), [](const auto& entry) { return !entry.second.reconciled; }));
}

size_t SliceTable::unlisted() const {
  if (!scope_.has_value()) return 0;
  return static_cast<size_t>(
      std::count_if(scope_->begin(), scope_->end(), [&](const SlicePlace& place) {
        const auto found = by_place_.find(place);
        return found == by_place_.end() || states_.at(found->second).source == nullptr;
      }));
}

}  // namespace search
