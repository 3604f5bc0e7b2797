// Evaluates JSONPath templates. An expression is evaluated from the root on: each step turns the
// values that the last one found into the values that it finds in them.
//
// A template of some kilobytes could find and compare the same values for hours, so an evaluation
// has a budget: a step pays for each value that it gets, and for each that it finds by descending
// or compares in a filter. Whoever evaluates need not be interruptible then.

#include "kube/meta/json_path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {

namespace {

// More values than any status has. Some steps one after the other can find the same value again and
// again.
constexpr size_t kMaxResults = 10000;
// More text than anybody prints: a template can name a large value again and again.
constexpr size_t kMaxText = 1 << 20;

absl::Status TooMany() {
  return absl::InvalidArgumentError(
      absl::StrCat("an expression finds more than ", kMaxResults, " values"));
}

// The bytes of a text that are as much work as a value.
constexpr int64_t kBytesPerStep = 64;

int64_t StepsFor(absl::string_view text) {
  return static_cast<int64_t>(text.size()) / kBytesPerStep;
}

// Returns how many steps it takes to look at the whole value; more than `limit` is not counted.
int64_t StepsFor(const json::Value& value, int64_t limit) {
  int64_t steps = 1 + StepsFor(value.AsString());
  for (const json::Value& item : value.items()) {
    if (steps > limit) return steps;
    steps += StepsFor(item, limit - steps);
  }
  for (const json::Member& member : value.members()) {
    if (steps > limit) return steps;
    steps += StepsFor(member.name()) + StepsFor(member.value, limit - steps);
  }
  return steps;
}

std::string Text(const json::Value& value) {
  return value.is_string() ? value.ToString() : json::Write(value);
}

absl::Status OutOfBounds(int64_t index, int64_t length) {
  return absl::InvalidArgumentError(
      absl::StrCat("array index out of bounds: index ", index, ", length ", length));
}

// Returns -1, 0 or 1; nullopt for values that have no order.
std::optional<int> Compare(const json::Value& a, const json::Value& b) {
  if (a.is_number() && b.is_number()) {
    return (a.AsDouble() > b.AsDouble()) - (a.AsDouble() < b.AsDouble());
  }
  if (a.is_string() && b.is_string()) {
    return (a.AsString() > b.AsString()) - (a.AsString() < b.AsString());
  }
  return std::nullopt;
}

bool Passes(const json::Value& left, absl::string_view op, const json::Value& right) {
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  const std::optional<int> order = Compare(left, right);
  if (!order.has_value()) return false;
  if (op == "<") return *order < 0;
  if (op == "<=") return *order <= 0;
  return op == ">" ? *order > 0 : *order >= 0;
}

}  // namespace

// Evaluates expressions, all with the same rule for absent members.
class JsonPath::Evaluation {
 public:
  // REQUIRES: `budget` outlives this object.
  Evaluation(MissingKeys missing, Budget& budget) : missing_(missing), budget_(budget) {}

  absl::StatusOr<Values> Run(const Nodes& nodes, Values values) const {
    RETURN_IF_ERROR(Spend(1));
    for (const Node& node : nodes) {
      ASSIGN_OR_RETURN(values, Step(node, values));
      // Some steps, and filters, pass over what could not be paid.
      RETURN_IF_ERROR(Spend(0));
      if (values.size() > kMaxResults) return TooMany();
    }
    return values;
  }

 private:
  absl::Status Spend(int64_t steps) const {
    if (budget_.Spend(steps)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("looking for values takes more than ", Budget::kSteps, " steps"));
  }

  absl::StatusOr<Values> Step(const Node& node, const Values& values) const {
    RETURN_IF_ERROR(Spend(static_cast<int64_t>(1 + values.size()) * (1 + StepsFor(node.name))));
    Values out;
    if (node.kind == Node::Kind::kLiteral) return Values(values.size(), node.literal);
    if (node.kind == Node::Kind::kMember) return Members(node, values);
    if (node.kind == Node::Kind::kUnion) {
      for (const Nodes& part : node.parts) {
        ASSIGN_OR_RETURN(const Values found, Run(part, values));
        out.insert(out.end(), found.begin(), found.end());
        if (out.size() > kMaxResults) return TooMany();
      }
      return out;
    }
    for (const json::Value& value : values) {
      if (out.size() > kMaxResults) return TooMany();
      if (node.kind == Node::Kind::kAll) Children(value, out);
      if (node.kind == Node::Kind::kRecursive) Descend(value, out);
      if (node.kind == Node::Kind::kSlice) RETURN_IF_ERROR(Slice(node, value, out));
      if (node.kind == Node::Kind::kFilter) RETURN_IF_ERROR(Filter(node, value, out));
    }
    return out;
  }

  absl::StatusOr<Values> Members(const Node& node, const Values& values) const {
    Values out;
    for (const json::Value& value : values) {
      if (const json::Value* member = value.Find(node.name)) out.push_back(*member);
    }
    if (out.empty() && !values.empty() && missing_ == MissingKeys::kError) {
      return absl::NotFoundError(absl::StrCat(node.name, " is not found"));
    }
    return out;
  }

  void Children(const json::Value& value, Values& out) const {
    if (!budget_.Spend(static_cast<int64_t>(value.size()))) return;
    for (const json::Value& item : value.items()) out.push_back(item);
    for (const json::Member& member : value.members()) out.push_back(member.value);
  }

  // Finds a value that has children, and all such values below it.
  void Descend(const json::Value& value, Values& out) const {
    if (!budget_.Spend(1) || value.empty() || out.size() > kMaxResults) return;
    out.push_back(value);
    for (const json::Value& item : value.items()) Descend(item, out);
    for (const json::Member& member : value.members()) Descend(member.value, out);
  }

  static absl::Status Slice(const Node& node, const json::Value& value, Values& out) {
    if (value.is_null()) return absl::OkStatus();
    if (!value.is_array()) return absl::InvalidArgumentError("a subscript of what is no array");
    const auto length = static_cast<int64_t>(value.size());
    int64_t from = node.bounds[0].value_or(0);
    if (from < 0) from += length;
    if (node.is_index && (from < 0 || from >= length)) return OutOfBounds(from, length);
    int64_t to = node.is_index ? from + 1 : node.bounds[1].value_or(length);
    if (to < 0) to += length;
    const int64_t step = node.bounds[2].value_or(1);
    if (from == to) return absl::OkStatus();
    if (from < 0 || from >= length) return OutOfBounds(from, length);
    if (to < 0 || to > length) return OutOfBounds(to - 1, length);
    if (from > to) return absl::InvalidArgumentError("an array is sliced from behind its end");
    if (step <= 0) return absl::InvalidArgumentError("step must be > 0");
    for (int64_t i = from; i < to; i += std::min(step, length)) {
      out.push_back(value.At(static_cast<size_t>(i)));
    }
    return absl::OkStatus();
  }

  absl::Status Filter(const Node& node, const json::Value& value, Values& out) const {
    if (!value.is_array()) return absl::InvalidArgumentError("a filter of what is no array");
    for (const json::Value& item : value.items()) {
      const absl::StatusOr<Values> left = Run(node.parts[0], {item});
      if (node.parts.size() == 1) {
        if (left.ok() && !left->empty()) out.push_back(item);
        continue;
      }
      RETURN_IF_ERROR(left.status());
      ASSIGN_OR_RETURN(const Values right, Run(node.parts[1], {item}));
      if (left->empty() || right.empty()) continue;
      if (left->size() > 1 || right.size() > 1) {
        return absl::InvalidArgumentError("can only compare one element at a time");
      }
      RETURN_IF_ERROR(SpendForComparing(left->front(), right.front()));
      if (Passes(left->front(), node.name, right.front())) out.push_back(item);
    }
    return absl::OkStatus();
  }

  absl::Status SpendForComparing(const json::Value& a, const json::Value& b) const {
    // Such values are compared without looking into them.
    if (a.type() != b.type() || a.size() != b.size() || a.SharesWith(b)) return absl::OkStatus();
    return Spend(StepsFor(a, budget_.left()));
  }

  const MissingKeys missing_;
  Budget& budget_;
};

absl::StatusOr<std::vector<json::Value>> JsonPath::Find(const json::Value& root,
                                                        MissingKeys missing) const {
  Budget budget;
  const Evaluation evaluation(missing, budget);
  Values all;
  for (const Nodes& piece : pieces_) {
    ASSIGN_OR_RETURN(const Values found, evaluation.Run(piece, {root}));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

absl::StatusOr<std::string> JsonPath::Print(const json::Value& root, MissingKeys missing) const {
  Budget budget;
  return PrintWith(Evaluation(missing, budget), root);
}

absl::StatusOr<std::string> JsonPath::Print(const json::Value& root, Budget& budget) const {
  return PrintWith(Evaluation(MissingKeys::kError, budget), root);
}

absl::StatusOr<std::string> JsonPath::PrintWith(const Evaluation& evaluation,
                                                const json::Value& root) const {
  std::string text;
  for (const Nodes& piece : pieces_) {
    ASSIGN_OR_RETURN(const Values found, evaluation.Run(piece, {root}));
    for (size_t i = 0; i < found.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " ", Text(found[i]));
      if (text.size() > kMaxText) {
        return absl::InvalidArgumentError(
            absl::StrCat("a template prints more than ", kMaxText, " bytes"));
      }
    }
  }
  return text;
}

}  // namespace kube
