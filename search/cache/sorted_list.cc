// A page is made of the whole list at fixed versions: each object gets a number there, its values
// are compared, and those that come after the last object of the page before are kept, as many as
// the page has. So the continue token needs nothing but the versions, the number of that object,
// and how many objects the pages before had; and the memory for values is that of one page.

#include "search/cache/sorted_list.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "base/stop_token.h"

namespace search {
namespace {

using kube::ObjectPtr;
using kube::SortOrder;

// So many objects are compared before it is looked whether anybody still waits.
constexpr size_t kBetweenLooks = 256;

struct Item {
  SortOrder::Values values;
  size_t number = 0;  // Of the object in the whole list.
};

class Before {
 public:
  explicit Before(const SortOrder& order) : order_(order) {}
  bool operator()(const Item& a, const Item& b) const {
    const int result = order_.Compare(a.values, b.values);
    return result != 0 ? result < 0 : a.number < b.number;
  }

 private:
  const SortOrder& order_;
};

// The first items of what is added, at most so many.
class FirstItems {
 public:
  FirstItems(size_t limit, const SortOrder& order) : limit_(limit), before_(order) {}

  // kInvalidArgument when they have got too large.
  absl::Status Add(Item item) {
    if (items_.size() == limit_) {
      if (!before_(item, items_.front())) return absl::OkStatus();
      std::pop_heap(items_.begin(), items_.end(), before_);
      bytes_ -= BytesOf(items_.back());
      items_.pop_back();
    }
    bytes_ += BytesOf(item);
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), before_);
    if (bytes_ <= kMaxSortBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("sort: what is compared of the list's objects has more than ",
                     kMaxSortBytes >> 20, " MB; ask for fewer of them with limit"));
  }
  std::vector<Item> TakeSorted() {
    std::sort_heap(items_.begin(), items_.end(), before_);
    return std::move(items_);
  }

 private:
  static size_t BytesOf(const Item& item) { return sizeof(Item) + SortOrder::BytesOf(item.values); }

  const size_t limit_;
  const Before before_;
  std::vector<Item> items_;  // A heap: the last one is on top.
  size_t bytes_ = 0;
};

// Where a page begins: behind one object of the list at these versions.
struct Place {
  std::string version;  // A CompositeVersion.
  size_t last = 0;      // The number of that object.
  size_t seen = 0;      // How many objects of the order come up to it.
};

std::string TokenOf(const Place& place, const SortOrder& order) {
  return absl::WebSafeBase64Escape(
      json::Write(json::Value::Object({{"rv", place.version},
                                       {"last", static_cast<int64_t>(place.last)},
                                       {"seen", static_cast<int64_t>(place.seen)},
                                       {"sort", order.text()}})));
}

absl::Status NotOfThisList(const SortOrder& order) {
  return absl::InvalidArgumentError(
      absl::StrCat("continue token: it is not one of a list sorted by ", order.text()));
}

absl::StatusOr<Place> PlaceOf(const std::string& token, const SortOrder& order) {
  std::string text;
  if (!absl::WebSafeBase64Unescape(token, &text)) return NotOfThisList(order);
  const auto parsed = json::Parse(text);
  const json::Value value = parsed.ok() ? *parsed : json::Value();
  const int64_t last = value["last"].AsInt(-1), seen = value["seen"].AsInt();
  if (value["sort"].AsString() != order.text() || last < 0 || seen <= 0) {
    return NotOfThisList(order);
  }
  return Place{value["rv"].ToString(), static_cast<size_t>(last), static_cast<size_t>(seen)};
}

// Takes out the clusters that the first page did not have, so that no object changes its place.
absl::Status RestoreClusters(const std::string& version, ListAnswer& answer) {
  const CompositeVersion first = CompositeVersion::Parse(version);
  std::vector<ListAnswer::Part> parts;
  for (ListAnswer::Part& part : answer.parts) {
    if (first.Number(part.cluster) >= 0) parts.push_back(std::move(part));
  }
  if (parts.size() < first.versions().size()) {
    return absl::OutOfRangeError(
        "a cluster of the first page has left, or is being read again; list again");
  }
  answer.parts = std::move(parts);
  answer.version = version;
  return absl::OkStatus();
}

// Finds the objects of a list by their numbers.
class Numbered {
 public:
  explicit Numbered(const ListAnswer& answer) : answer_(answer) {
    for (const ListAnswer::Part& part : answer.parts) {
      begins_.push_back(size_);
      size_ += part.objects->size();
    }
  }

  size_t size() const { return size_; }
  // REQUIRES: number < size().
  const ListAnswer::Part& PartOf(size_t number) const { return answer_.parts[IndexOf(number)]; }
  const ObjectPtr& At(size_t number) const {
    const size_t part = IndexOf(number);
    return (*answer_.parts[part].objects)[number - begins_[part]];
  }

 private:
  // Parts may be empty.
  size_t IndexOf(size_t number) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), number);
    return static_cast<size_t>(after - begins_.begin()) - 1;
  }

  const ListAnswer& answer_;
  std::vector<size_t> begins_;
  size_t size_ = 0;
};

// Returns the items as parts: those of one cluster that follow one another are one.
std::vector<ListAnswer::Part> PartsOf(const std::vector<Item>& items, const Numbered& objects) {
  std::vector<ListAnswer::Part> parts;
  for (size_t i = 0; i < items.size();) {
    std::vector<ObjectPtr> some;
    const std::string& cluster = objects.PartOf(items[i].number).cluster;
    for (; i < items.size() && objects.PartOf(items[i].number).cluster == cluster; ++i) {
      some.push_back(objects.At(items[i].number));
    }
    parts.push_back({cluster, std::make_shared<const std::vector<ObjectPtr>>(std::move(some))});
  }
  return parts;
}

SortOrder::Values ValuesOf(const ObjectPtr& object, const SortOrder& order) {
  return order.ValuesOfText(kube::Encoded(*object).text());
}

// Returns the first items behind `last`, at most so many.
absl::StatusOr<std::vector<Item>> ItemsOf(const Numbered& objects, std::optional<size_t> last,
                                          size_t limit, const SortOrder& order,
                                          const base::StopToken& stop) {
  const Before before(order);
  FirstItems first(limit, order);
  Item behind;
  if (last.has_value()) behind = {ValuesOf(objects.At(*last), order), *last};
  for (size_t number = 0; number < objects.size(); ++number) {
    if (number % kBetweenLooks == 0 && stop.stop_requested()) {
      return absl::CancelledError("nobody waits for the list");
    }
    Item item{ValuesOf(objects.At(number), order), number};
    if (last.has_value() && !before(behind, item)) continue;
    RETURN_IF_ERROR(first.Add(std::move(item)));
  }
  return first.TakeSorted();
}

}  // namespace

absl::StatusOr<ListAnswer> ListSorted(const MultiClusterCache& cache, const ListRequest& request,
                                      const SortOrder& order) {
  std::optional<Place> place;
  ListRequest whole = request;
  whole.limit = 0;
  if (!request.continue_token.empty()) {
    ASSIGN_OR_RETURN(place, PlaceOf(request.continue_token, order));
    whole.continue_token.clear();
    whole.resource_version = place->version;
    whole.exact = true;
  }
  ASSIGN_OR_RETURN(ListAnswer answer, cache.List(whole));
  if (place.has_value()) RETURN_IF_ERROR(RestoreClusters(place->version, answer));
  const Numbered objects(answer);
  const size_t seen = place.has_value() ? place->seen : 0;
  if (place.has_value() && (place->last >= objects.size() || seen > objects.size())) {
    return NotOfThisList(order);
  }
  ASSIGN_OR_RETURN(const std::vector<Item> items,
                   ItemsOf(objects, place.has_value() ? std::optional(place->last) : std::nullopt,
                           request.limit == 0 ? SIZE_MAX : request.limit, order, request.stop));
  const size_t rest = objects.size() - seen;
  // A token that somebody has changed may say anything.
  const size_t remaining = rest - std::min(rest, items.size());
  std::vector<ListAnswer::Part> parts = PartsOf(items, objects);
  answer.remaining = remaining;
  if (remaining > 0 && !items.empty()) {
    answer.continue_token =
        TokenOf({answer.version, items.back().number, seen + items.size()}, order);
  }
  answer.parts = std::move(parts);
  return answer;
}

}  // namespace search
