// Field selectors: by which fields the objects of a kind can be selected, and whether an object is
// selected. The labels of built-in kinds are those that kube-apiserver registers
// (AddFieldLabelConversionFunc), their values are those of the SelectableFields functions of its
// registries; custom kinds add the selectableFields of their definition.
//
//   ASSIGN_OR_RETURN(FieldMatcher matcher, FieldLabels::Of(gvk).Compile(options.fields));
//   if (matcher.Matches(object.root())) ...
#ifndef KUBE_SERVER_FIELD_LABELS_H_
#define KUBE_SERVER_FIELD_LABELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/selector.h"

namespace kube::server {

// One selectable field.
struct FieldLabel {
  // Where the value is; the first of these that is not empty counts. "*" is the first element of
  // a list. No path: the field may be named but is always "".
  using JsonPath = std::vector<std::string>;

  std::string label;  // As in a selector: "spec.nodeName".
  std::vector<JsonPath> paths;
  std::string absent;  // The text of an absent value.

  // Returns the text that a selector compares.
  std::string ValueIn(const json::Value& object) const;
};

// A field selector that has been checked against the labels of a kind. Immutable and thread-safe.
class FieldMatcher {
 public:
  FieldMatcher() = default;  // Matches everything.

  bool MatchesEverything() const { return terms_.empty(); }
  bool Matches(const json::Value& object) const;
  // Returns the labels that are compared, each once.
  std::vector<std::string> Labels() const;

 private:
  friend class FieldLabels;
  struct Term {
    FieldLabel field;
    std::string value;
    bool equal = true;
  };
  std::vector<Term> terms_;
};

// The selectable fields of one kind. Immutable and thread-safe.
class FieldLabels {
 public:
  // Of a built-in kind; of any other kind: metadata.name and metadata.namespace.
  static FieldLabels Of(const kube::Gvk& gvk);
  // Of a custom kind; `declared` are the jsonPaths of its selectableFields (".spec.color").
  static FieldLabels OfCustom(bool namespaced, const std::vector<std::string>& declared);

  // 400 with apiserver's message for a field by which objects of the kind cannot be selected.
  absl::StatusOr<FieldMatcher> Compile(const kube::FieldSelector& selector) const;
  const std::vector<FieldLabel>& all() const { return labels_; }

 private:
  const FieldLabel* Find(absl::string_view label) const;
  std::string Refusal(absl::string_view label) const;

  std::vector<FieldLabel> labels_;
  std::string
      refusal_;  // With $0 for the label; "" stands for the message of kinds without labels.
};

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELD_LABELS_H_
