// Orders in which a caller may want a list of objects.
//
//   ASSIGN_OR_RETURN(const kube::SortOrder order, kube::SortOrder::Parse("-status.startTime"));
//   order.Compare(order.ValuesOf(a.root()), order.ValuesOf(b.root()));
#ifndef KUBE_META_SORT_ORDER_H_
#define KUBE_META_SORT_ORDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "kube/meta/json_path.h"

namespace kube {

// The fields that a list is sorted by, the most important first. Immutable.
class SortOrder {
 public:
  // The most fields that an order has, and the most bytes of a text that are kept and compared.
  static constexpr size_t kMaxKeys = 8;
  static constexpr size_t kMaxText = 256;

  // What is compared of one field of an object.
  struct Value {
    enum Rank { kNumber, kText, kAbsent } rank = kAbsent;
    double number = 0;
    std::string text;
  };
  // Of one object, one for each field of the order.
  using Values = std::vector<Value>;

  SortOrder() = default;  // Everything is equal.
  // Reads JSONPath expressions, separated by commas, as `kubectl --sort-by` takes them: braces and
  // the first dot may be left out. A minus before one reverses it:
  // "-metadata.creationTimestamp,status.phase". kInvalidArgument for a text that is none, or has
  // more than kMaxKeys expressions.
  static absl::StatusOr<SortOrder> Parse(absl::string_view text);

  bool empty() const { return keys_.empty(); }
  size_t size() const { return keys_.size(); }
  const std::string& text() const { return text_; }

  // Objects and arrays count as absent: they have no order. Texts are cut to kMaxText bytes, so
  // that the values of an object have at most some kilobytes.
  Values ValuesOf(const json::Value& object) const;
  // Of an object that is JSON text; of a text that cannot be read all values are absent.
  Values ValuesOfText(absl::string_view text) const;

  // Returns what values of this order take in memory, in bytes.
  static size_t BytesOf(const Values& values);

  // Returns -1, 0 or 1. Numbers and quantities come before other texts, absent values last in
  // either direction. REQUIRES: both are of this order.
  int Compare(const Values& a, const Values& b) const;

  // Values as JSON, for continue tokens. kInvalidArgument for what is not that of this order.
  static json::Value ToJson(const Values& values);
  absl::StatusOr<Values> FromJson(const json::Value& json) const;

 private:
  struct Key {
    JsonPath path;
    bool descending = false;
  };

  std::string text_;
  std::vector<Key> keys_;
  json::Fields fields_{{}};  // What the paths need of an object.
};

}  // namespace kube

#endif  // KUBE_META_SORT_ORDER_H_
