// Label and field selectors: grammar, validation, matching and canonical text.
#ifndef KUBE_META_SELECTOR_H_
#define KUBE_META_SELECTOR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube {

class LabelSelector {
 public:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // Sorted, unique.
  };

  // Matches every object.
  LabelSelector() = default;
  static LabelSelector Nothing();
  // Requires that one label has this value.
  static LabelSelector Equal(absl::string_view key, absl::string_view value);

  // Parses the text form: "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2". kInvalidArgument with
  // apimachinery's wording for a bad key, value or grammar.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view text);
  // Reads a metav1.LabelSelector ({matchLabels, matchExpressions}). As in
  // metav1.LabelSelectorAsSelector, null gives Nothing, and {} matches everything.
  static absl::StatusOr<LabelSelector> FromJson(const json::Value& selector);

  bool MatchesNothing() const { return nothing_; }
  bool MatchesEverything() const { return !nothing_ && requirements_.empty(); }
  // `labels` is a metadata.labels object (null: no labels).
  bool Matches(const json::Value& labels) const;
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // Returns the canonical text; Parse(ToString()) matches the same objects. Requirements are sorted
  // by key, sets of one value are written with = and !=, and Nothing is written as a contradiction,
  // because "" means everything.
  std::string ToString() const;

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

// A selector such as "metadata.name=x,spec.nodeName!=y", with backslash escapes for comma, = and
// backslash.
class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;
  };
  // kInvalidArgument with apimachinery's wording.
  static absl::StatusOr<FieldSelector> Parse(absl::string_view text);
  // Fields are dotted paths of string values.
  const std::vector<Term>& terms() const { return terms_; }
  std::string ToString() const;

 private:
  std::vector<Term> terms_;
};

// Kubernetes' name rules; OK or kInvalidArgument with apimachinery's message.
absl::Status ValidateQualifiedName(absl::string_view name);  // Label and annotation keys.
absl::Status ValidateLabelValue(absl::string_view value);
absl::Status ValidateDns1123Subdomain(absl::string_view name);
absl::Status ValidateDns1123Label(absl::string_view name);
// For segments of paths (names of RBAC objects): not "." or "..", no '/' or '%'.
absl::Status ValidatePathSegmentName(absl::string_view name);

}  // namespace kube

#endif  // KUBE_META_SELECTOR_H_
