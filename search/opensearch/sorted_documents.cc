// OpenSearch cannot sort by paths below spec and status (flat_object), nor compare quantities as
// Kubernetes does. So each page reads everything that the query finds and keeps its own first
// objects: those that come after the last one of the page before. The continue token has what was
// compared of that one, and its place.

#include "search/opensearch/sorted_documents.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/json_size.h"
#include "base/status.h"

namespace search {
namespace {

using kube::SortOrder;

// What decides where an object stands in the list.
struct Standing {
  SortOrder::Values values;
  json::Value place;
};

struct Item {
  Standing standing;
  std::string text;

  size_t bytes() const {
    return sizeof(Item) + text.size() + SortOrder::BytesOf(standing.values) +
           json::MemoryOf(standing.place);
  }
};

class Before {
 public:
  explicit Before(const SortOrder& order) : order_(order) {}
  bool operator()(const Standing& a, const Standing& b) const {
    const int result = order_.Compare(a.values, b.values);
    return result != 0 ? result < 0 : IsPlaceBefore(a.place, b.place);
  }
  bool operator()(const Item& a, const Item& b) const { return (*this)(a.standing, b.standing); }

 private:
  const SortOrder& order_;
};

std::string TokenOf(const Standing& last, const SortOrder& order) {
  return absl::WebSafeBase64Escape(
      json::Write(json::Value::Object({{"after", last.place},
                                       {"values", SortOrder::ToJson(last.values)},
                                       {"sort", order.text()}})));
}

// Returns the last object of the page before; nullopt for the first page.
absl::StatusOr<std::optional<Standing>> LastOf(const std::string& token, const SortOrder& order) {
  if (token.empty()) return std::nullopt;
  std::string text;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    const auto parsed = json::Parse(text);
    const json::Value value = parsed.ok() ? *parsed : json::Value();
    auto values = order.FromJson(value["values"]);
    if (values.ok() && IsPlace(value["after"]) && value["sort"].AsString() == order.text()) {
      return Standing{*std::move(values), value["after"]};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("continue token: it is not one of a list sorted by ", order.text()));
}

// The first objects of what is added, at most so many.
class FirstItems {
 public:
  FirstItems(size_t limit, const DocumentQuery& query)
      : limit_(limit), before_(query.sort), size_(std::make_shared<AnswerSize>(query.take)) {}

  absl::Status Add(Standing standing, const kube::Object& object) {
    ++added_;
    // A heap of the page's length holds the memory down to one page, however many documents there
    // are.
    if (heap_.size() == limit_) {
      if (!before_(standing, heap_.front().standing)) return absl::OkStatus();
      std::pop_heap(heap_.begin(), heap_.end(), before_);
      size_->Remove(heap_.back().bytes());
      heap_.pop_back();
    }
    heap_.push_back({std::move(standing), json::Write(object.root())});
    const size_t bytes = heap_.back().bytes();
    std::push_heap(heap_.begin(), heap_.end(), before_);
    return size_->Add(bytes);
  }
  size_t added() const { return added_; }
  const std::shared_ptr<AnswerSize>& size() const { return size_; }
  std::vector<Item> TakeSorted() {
    std::sort_heap(heap_.begin(), heap_.end(), before_);
    return std::move(heap_);
  }

 private:
  const size_t limit_;
  const Before before_;
  std::vector<Item> heap_;  // The last one is on top.
  const std::shared_ptr<AnswerSize> size_;
  size_t added_ = 0;
};

}  // namespace

absl::StatusOr<DocumentPage> SortDocuments(MergedHits& hits, const DocumentQuery& query,
                                           const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::optional<Standing> last, LastOf(query.continue_token, query.sort));
  const Before before(query.sort);
  FirstItems first(query.limit == 0 ? SIZE_MAX : static_cast<size_t>(query.limit), query);
  for (;;) {
    ASSIGN_OR_RETURN(const json::Value hit, hits.Take(kMaxHitsAtOnce, stop));
    if (hit.is_null()) break;
    // Somebody else may have put documents there.
    const auto object = ObjectOfHit(hit);
    if (!object.ok() || !Means(query, *object)) continue;
    Standing standing{query.sort.ValuesOf(object->root()), PlaceOf(hit)};
    // Earlier pages have had it. The order is total (the place decides), so nothing is shown twice.
    if (last.has_value() && !before(*last, standing)) continue;
    RETURN_IF_ERROR(first.Add(std::move(standing), *object));
  }
  const size_t found = first.added();
  std::vector<Item> items = first.TakeSorted();
  DocumentPage page{.size = first.size()};
  page.remaining = static_cast<int64_t>(found - items.size());
  if (page.remaining > 0) page.continue_token = TokenOf(items.back().standing, query.sort);
  for (Item& item : items) page.items.push_back(std::move(item.text));
  return page;
}

}  // namespace search
