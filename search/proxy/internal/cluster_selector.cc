#include "search/proxy/internal/cluster_selector.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/search_keys.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

using Requirement = kube::LabelSelector::Requirement;
using Term = kube::FieldSelector::Term;

// Returns the text that parses to the requirement. Values have no characters of the grammar.
std::string TextOf(const Requirement& r) {
  using Operator = kube::LabelSelector::Operator;
  const std::string values = absl::StrCat("(", absl::StrJoin(r.values, ","), ")");
  switch (r.op) {
    case Operator::kIn:
      return absl::StrCat(r.key, " in ", values);
    case Operator::kNotIn:
      return absl::StrCat(r.key, " notin ", values);
    case Operator::kExists:
      return r.key;
    case Operator::kDoesNotExist:
      return absl::StrCat("!", r.key);
    case Operator::kGreaterThan:
      return absl::StrCat(r.key, ">", r.values.at(0));
    case Operator::kLessThan:
      return absl::StrCat(r.key, "<", r.values.at(0));
  }
  return "";
}

std::string TextOf(const Term& term) {
  const auto escaped = [](absl::string_view text) {
    return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {",", "\\,"}, {"=", "\\="}});
  };
  return absl::StrCat(escaped(term.field), term.equal ? "=" : "!=", escaped(term.value));
}

// Takes those out that `is_of_cluster`. Returns the texts of what is taken and of what is left.
template <class Item, class Condition>
std::pair<std::vector<std::string>, std::vector<std::string>> Split(
    const std::vector<Item>& items, const Condition& is_of_cluster) {
  std::pair<std::vector<std::string>, std::vector<std::string>> texts;
  for (const Item& item : items) {
    (is_of_cluster(item) ? texts.first : texts.second).push_back(TextOf(item));
  }
  return texts;
}

bool IsOfCluster(const Term& term) { return term.field == api::kClusterField; }

// Returns whether the kind has a field of this name itself.
bool HasOwnField(const kube::server::FieldLabels& fields) {
  return std::any_of(fields.all().begin(), fields.all().end(),
                     [](const auto& field) { return field.label == api::kClusterField; });
}

}  // namespace

absl::Status TakeClusterSelectors(const kube::server::FieldLabels& fields,
                                  kube::server::ListOptions& options, ClusterChoice& choice) {
  const auto labels = Split(options.labels.requirements(), [](const Requirement& r) {
    return r.key == api::kCachedFromClusterAnnotation;
  });
  std::vector<Term> terms;
  if (!HasOwnField(fields)) {
    std::copy_if(options.fields.terms().begin(), options.fields.terms().end(),
                 std::back_inserter(terms), IsOfCluster);
  }
  if (labels.first.empty() && terms.empty()) return absl::OkStatus();
  kube::LabelSelector selector;
  if (!labels.first.empty()) {
    ASSIGN_OR_RETURN(selector, kube::LabelSelector::Parse(absl::StrJoin(labels.first, ",")));
    ASSIGN_OR_RETURN(options.labels, kube::LabelSelector::Parse(absl::StrJoin(labels.second, ",")));
  }
  if (!terms.empty()) {
    const auto split = Split(options.fields.terms(), IsOfCluster);
    ASSIGN_OR_RETURN(options.fields, kube::FieldSelector::Parse(absl::StrJoin(split.second, ",")));
  }
  // The label of the cluster is not in the objects' own labels, so clusters are chosen by it
  // instead of objects.
  choice.Narrow([selector, terms](absl::string_view cluster) {
    const json::Value label =
        json::Value::Object({{api::kCachedFromClusterAnnotation, std::string(cluster)}});
    return selector.Matches(label) &&
           std::all_of(terms.begin(), terms.end(),
                       [&](const Term& term) { return (term.value == cluster) == term.equal; });
  });
  return absl::OkStatus();
}

absl::Status CheckNoClusterSelectors(const base::HttpRequest& request) {
  if (!absl::StrContains(request.Query("labelSelector"), api::kCachedFromClusterAnnotation)) {
    return absl::OkStatus();
  }
  return kube::server::BadRequest(
      absl::StrCat("the label ", api::kCachedFromClusterAnnotation,
                   " selects in lists and watches only: members do not know it"));
}

}  // namespace search
