// A page is made of the whole list at fixed versions: it is sorted, and the objects before the page
// are left out. So the continue token needs nothing but these versions and a number.
#include "search/cache/sorted_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace search {
namespace {

using kube::ObjectPtr;

// Splits at commas that are not inside of brackets.
std::vector<absl::string_view> SplitKeys(absl::string_view text) {
  std::vector<absl::string_view> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return out;
}

// Returns the member that everything lies in which an expression finds: "metadata.labels" for
// ".metadata.labels['app']"; "" when it may find anything.
std::string PlainPart(absl::string_view expression) {
  absl::ConsumePrefix(&expression, ".");
  const size_t end = std::min(expression.find_first_of("[*?@(\\ "), expression.find(".."));
  absl::string_view plain = expression.substr(0, end);
  // "spec.*": the dot before the star.
  absl::ConsumeSuffix(&plain, ".");
  return std::string(plain);
}

// What is compared of one value of an object.
struct Comparable {
  enum Rank { kNumber, kText, kAbsent } rank = kAbsent;
  double number = 0;
  std::string text;
};

Comparable ComparableOf(const json::Value& value) {
  if (value.is_null()) return {};
  if (value.is_number()) return {Comparable::kNumber, value.AsDouble(), ""};
  if (!value.is_string()) return {Comparable::kText, 0, json::Write(value)};
  const auto quantity = kube::Quantity::Parse(value.AsString());
  if (quantity.ok()) return {Comparable::kNumber, quantity->AsApproximateFloat(), ""};
  return {Comparable::kText, 0, value.ToString()};
}

struct Item {
  const std::string* cluster = nullptr;
  ObjectPtr object;
  std::vector<Comparable> values;
};

// Returns -1, 0 or 1; absent values are last in either direction.
int Compare(const Comparable& a, const Comparable& b, bool descending) {
  const bool absent_a = a.rank == Comparable::kAbsent, absent_b = b.rank == Comparable::kAbsent;
  if (absent_a || absent_b) return static_cast<int>(absent_a) - static_cast<int>(absent_b);
  const auto x = std::tie(a.rank, a.number, a.text), y = std::tie(b.rank, b.number, b.text);
  const int order = x < y ? -1 : (y < x ? 1 : 0);
  return descending ? -order : order;
}

Comparable ValueOf(const kube::EncodedObject& object, const SortOrder::Key& key) {
  const auto parsed = json::Parse(object.text(), {.kept = &key.fields});
  if (!parsed.ok()) return {};
  const auto found = key.path.Find(*parsed, kube::JsonPath::MissingKeys::kSkip);
  return found.ok() && !found->empty() ? ComparableOf(found->front()) : Comparable();
}

std::vector<Item> Sorted(const ListAnswer& answer, const SortOrder& order) {
  std::vector<Item> items;
  items.reserve(answer.size());
  for (const ListAnswer::Part& part : answer.parts) {
    for (const ObjectPtr& object : *part.objects) {
      Item item{&part.cluster, object, {}};
      for (const SortOrder::Key& key : order.keys()) {
        item.values.push_back(ValueOf(kube::Encoded(*object), key));
      }
      items.push_back(std::move(item));
    }
  }
  std::stable_sort(items.begin(), items.end(), [&order](const Item& a, const Item& b) {
    for (size_t i = 0; i < order.keys().size(); ++i) {
      const int result = Compare(a.values[i], b.values[i], order.keys()[i].descending);
      if (result != 0) return result < 0;
    }
    return false;
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

absl::StatusOr<SortOrder> SortOrder::Parse(absl::string_view text) {
  SortOrder order;
  order.text_ = std::string(text);
  if (text.empty()) return order;
  for (absl::string_view part : SplitKeys(text)) {
    const bool descending = absl::ConsumePrefix(&part, "-");
    if (absl::ConsumePrefix(&part, "{")) absl::ConsumeSuffix(&part, "}");
    absl::ConsumePrefix(&part, ".");
    if (part.empty()) return absl::InvalidArgumentError("sort: a field has no name");
    if (part.find_first_of("{}") != absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("sort: ", part, " is not one expression"));
    }
    auto path = kube::JsonPath::Parse(absl::StrCat("{.", part, "}"));
    if (!path.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("sort: ", part, ": ", path.status().message()));
    }
    const std::string plain = PlainPart(part);
    const std::vector<std::string> paths =
        plain.empty() ? std::vector<std::string>() : std::vector<std::string>{plain};
    order.keys_.push_back({*std::move(path), json::Fields(paths), descending});
  }
  return order;
}

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
