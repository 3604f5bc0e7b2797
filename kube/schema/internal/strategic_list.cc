// Merges lists by key. Items are found by the JSON text of their key (or of themselves, in lists of
// scalars), so numbers and texts stay apart. The steps of MergeLists: check that every item has the
// key; sort the patch's items into changes, deletions and "replace everything"; remove; merge
// changes into items of the same key, or append them; then bring the result into order. The order
// is upstream's: items of the patch as the patch has them, the others where they were among each
// other.

#include "kube/schema/internal/strategic_list.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube::schema::internal {
namespace {

using json::Value;

constexpr absl::string_view kDirective = "$patch";
constexpr size_t kAbsent = static_cast<size_t>(-1);

// Returns a text that is equal for items that the merge treats as the same.
std::string KeyOf(const Value& item, absl::string_view merge_key) {
  return json::Write(merge_key.empty() ? item : item[merge_key]);
}

// The index of each item of a list. Of several items with one key the first counts.
class Positions {
 public:
  Positions(const Value& list, absl::string_view merge_key) : merge_key_(merge_key) {
    for (const Value& item : list.items()) Add(item);
  }

  // emplace keeps the first of several.
  void Add(const Value& item) { positions_.emplace(KeyOf(item, merge_key_), next_++); }
  size_t Find(const Value& item) const {
    const auto found = positions_.find(KeyOf(item, merge_key_));
    return found == positions_.end() ? kAbsent : found->second;
  }

 private:
  absl::string_view merge_key_;
  absl::flat_hash_map<std::string, size_t> positions_;
  size_t next_ = 0;
};

// Checks that every item of a list of objects has the key, and that a list of scalars has no
// objects or lists.
absl::Status CheckItems(const Value& list, absl::string_view merge_key) {
  for (const Value& item : list.items()) {
    if (merge_key.empty()) {
      if (!item.is_object() && !item.is_array()) continue;
      return absl::InvalidArgumentError("cannot merge lists of objects without a merge key");
    }
    if (!item.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat("expected an object with the merge key ",
                                                     merge_key, ", found ", json::Write(item)));
    }
    const bool replaces_list = item[kDirective].AsString() == "replace";
    if (replaces_list || item.Has(merge_key)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "map: ", json::Write(item), " does not contain declared merge key: ", merge_key));
  }
  return absl::OkStatus();
}

// The items of a patch list by what they do.
struct PatchItems {
  Value changes = Value::Array();
  Value deletions = Value::Array();
  bool replaces = false;
};

absl::StatusOr<PatchItems> SortOut(const Value& patch) {
  PatchItems result;
  for (const Value& item : patch.items()) {
    const Value* directive = item.Find(kDirective);
    if (directive == nullptr) {
      result.changes.Append(item);
    } else if (directive->AsString() == "delete") {
      result.deletions.Append(item);
    } else if (directive->AsString() == "replace") {
      result.replaces = true;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown patch directive in a list: ", json::Write(*directive)));
    }
  }
  return result;
}

Value WithoutKeys(const Value& list, const Value& unwanted, absl::string_view merge_key) {
  const Positions gone(unwanted, merge_key);
  Value kept = Value::Array();
  for (const Value& item : list.items()) {
    if (gone.Find(item) == kAbsent) kept.Append(item);
  }
  return kept;
}

absl::StatusOr<Value> MergeItems(const Value& original, const Value& changes,
                                 const ListMerge& merge) {
  Positions positions(original, merge.merge_key);
  Value merged = original;
  for (const Value& change : changes.items()) {
    const size_t at = positions.Find(change);
    if (at == kAbsent) {
      positions.Add(change);
      merged.Append(merge.as_new(change));
    } else if (!merge.merge_key.empty()) {
      ASSIGN_OR_RETURN(merged.MutableAt(at), merge.merge_objects(merged.At(at), change));
    }
  }
  return merged;
}

struct Placed {
  size_t wanted;    // Position in the wanted order.
  size_t original;  // Position in the original list.
  const Value* item;
};

// Merges both lists and keeps their orders: an item of `others` goes before the first item of
// `named` that came after it in the original.
Value Interleave(const std::vector<Placed>& named, const std::vector<Placed>& others) {
  Value result = Value::Array();
  auto other = others.begin();
  for (const Placed& next : named) {
    while (other != others.end() && other->original != kAbsent && next.original != kAbsent &&
           other->original < next.original) {
      result.Append(*(other++)->item);
    }
    result.Append(*next.item);
  }
  for (; other != others.end(); ++other) result.Append(*other->item);
  return result;
}

// Removes repeated scalars, because lists of scalars merge as sets.
Value Unique(const Value& list) {
  Positions seen(Value::Array(), "");
  Value result = Value::Array();
  for (const Value& item : list.items()) {
    if (seen.Find(item) != kAbsent) continue;
    seen.Add(item);
    result.Append(item);
  }
  return result;
}

}  // namespace

absl::StatusOr<Value> Rearrange(const Value& merged, const Value& wanted, const Value& original,
                                absl::string_view merge_key) {
  RETURN_IF_ERROR(CheckItems(wanted, merge_key));
  const Positions wanted_positions(wanted, merge_key);
  const Positions original_positions(original, merge_key);
  std::vector<Placed> named;
  std::vector<Placed> others;
  for (const Value& item : merged.items()) {
    const Placed placed{wanted_positions.Find(item), original_positions.Find(item), &item};
    (placed.wanted == kAbsent ? others : named).push_back(placed);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Placed& a, const Placed& b) { return a.wanted < b.wanted; });
  std::stable_sort(others.begin(), others.end(),
                   [](const Placed& a, const Placed& b) { return a.original < b.original; });
  return Interleave(named, others);
}

absl::StatusOr<Value> MergeLists(const Value& original, const Value& patch,
                                 const ListMerge& merge) {
  RETURN_IF_ERROR(CheckItems(original, merge.merge_key));
  RETURN_IF_ERROR(CheckItems(patch, merge.merge_key));
  ASSIGN_OR_RETURN(const PatchItems items, SortOut(patch));
  // Deletions beside it would have nothing to delete from.
  if (items.replaces) {
    Value replaced = Value::Array();
    for (const Value& item : items.changes.items()) replaced.Append(merge.as_new(item));
    return replaced;
  }
  const Value kept =
      items.deletions.empty() ? original : WithoutKeys(original, items.deletions, merge.merge_key);
  ASSIGN_OR_RETURN(Value merged, MergeItems(kept, items.changes, merge));
  if (merge.merge_key.empty()) merged = Unique(merged);
  return Rearrange(merged, items.changes, kept, merge.merge_key);
}

absl::Status CheckOrder(const Value& patch, const Value& wanted, absl::string_view merge_key) {
  if (patch.empty() || wanted.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckItems(patch, merge_key));
  RETURN_IF_ERROR(CheckItems(wanted, merge_key));
  size_t at = 0;
  for (const Value& item : patch.items()) {
    if (item.Has(kDirective)) continue;
    const std::string key = KeyOf(item, merge_key);
    while (at < wanted.size() && KeyOf(wanted.At(at), merge_key) != key) ++at;
    if (at == wanted.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the order in the patch list ", json::Write(patch),
                       " does not match the $setElementOrder list ", json::Write(wanted)));
    }
    ++at;
  }
  return absl::OkStatus();
}

Value WithoutScalars(const Value& list, const Value& unwanted) {
  return WithoutKeys(list, unwanted, "");
}

}  // namespace kube::schema::internal
