// A page is made of the whole list at fixed versions: it is sorted, and the objects before the page
// are left out. So the continue token needs nothing but these versions and a number.
#include "search/cache/sorted_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"

namespace search {
namespace {

using kube::ObjectPtr;
using kube::SortOrder;

struct Item {
  const std::string* cluster = nullptr;
  ObjectPtr object;
  kube::SortOrder::Values values;
};

std::vector<Item> Sorted(const ListAnswer& answer, const SortOrder& order) {
  std::vector<Item> items;
  items.reserve(answer.size());
  for (const ListAnswer::Part& part : answer.parts) {
    for (const ObjectPtr& object : *part.objects) {
      items.push_back({&part.cluster, object, order.ValuesOfText(kube::Encoded(*object).text())});
    }
  }
  std::stable_sort(items.begin(), items.end(), [&order](const Item& a, const Item& b) {
    return order.Compare(a.values, b.values) < 0;
  });
  return items;
}

// Where a page begins: so many objects of the list at these versions come before it.
struct Place {
  std::string version;  // A CompositeVersion.
  int64_t seen = 0;
};

std::string TokenOf(const Place& place, const SortOrder& order) {
  return absl::WebSafeBase64Escape(json::Write(
      json::Value::Object({{"rv", place.version}, {"seen", place.seen}, {"sort", order.text()}})));
}

absl::StatusOr<Place> PlaceOf(const std::string& token, const SortOrder& order) {
  std::string text;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    const auto parsed = json::Parse(text);
    const json::Value value = parsed.ok() ? *parsed : json::Value();
    if (value["sort"].AsString() == order.text() && value["seen"].AsInt() > 0) {
      return Place{value["rv"].ToString(), value["seen"].AsInt()};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("continue token: it is not one of a list sorted by ", order.text()));
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
        "a cluster of the first page has left, or is being read anew; list again");
  }
  answer.parts = std::move(parts);
  answer.version = version;
  return absl::OkStatus();
}

// Returns items [begin, end) as parts.
std::vector<ListAnswer::Part> PartsOf(std::vector<Item>& items, size_t begin, size_t end) {
  std::vector<ListAnswer::Part> parts;
  for (size_t i = begin; i < end;) {
    std::vector<ObjectPtr> objects;
    const std::string& cluster = *items[i].cluster;
    for (; i < end && *items[i].cluster == cluster; ++i) {
      objects.push_back(std::move(items[i].object));
    }
    parts.push_back({cluster, std::make_shared<const std::vector<ObjectPtr>>(std::move(objects))});
  }
  return parts;
}

}  // namespace

absl::StatusOr<ListAnswer> ListSorted(const MultiClusterCache& cache, const ListRequest& request,
                                      const SortOrder& order) {
  Place place;
  ListRequest whole = request;
  whole.limit = 0;
  if (!request.continue_token.empty()) {
    ASSIGN_OR_RETURN(place, PlaceOf(request.continue_token, order));
    whole.continue_token.clear();
    whole.resource_version = place.version;
    whole.exact = true;
  }
  ASSIGN_OR_RETURN(ListAnswer answer, cache.List(whole));
  if (!place.version.empty()) RETURN_IF_ERROR(RestoreClusters(place.version, answer));
  std::vector<Item> items = Sorted(answer, order);
  const size_t begin = std::min(items.size(), static_cast<size_t>(place.seen));
  const size_t rest = items.size() - begin;
  const size_t count = request.limit == 0 ? rest : std::min(rest, request.limit);
  std::vector<ListAnswer::Part> parts = PartsOf(items, begin, begin + count);
  answer.parts = std::move(parts);
  answer.remaining = rest - count;
  if (rest > count) {
    const auto seen = static_cast<int64_t>(begin + count);
    answer.continue_token = TokenOf({answer.version, seen}, order);
  }
  return answer;
}

}  // namespace search
