// Evaluates JSONPath templates. An expression is evaluated from the root on: each step turns the
// values that the last one found into the values that it finds in them.
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
  explicit Evaluation(MissingKeys missing) : missing_(missing) {}

  absl::StatusOr<Values> Run(const Nodes& nodes, Values values) const {
    for (const Node& node : nodes) {
      ASSIGN_OR_RETURN(values, Step(node, values));
      if (values.size() > kMaxResults) return TooMany();
    }
    return values;
  }

 private:
  absl::StatusOr<Values> Step(const Node& node, const Values& values) const {
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

  static void Children(const json::Value& value, Values& out) {
    for (const json::Value& item : value.items()) out.push_back(item);
    for (const json::Member& member : value.members()) out.push_back(member.value);
  }

  // Finds a value that has children, and all such values below it.
  static void Descend(const json::Value& value, Values& out) {
    if (value.empty() || out.size() > kMaxResults) return;
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
      if (Passes(left->front(), node.name, right.front())) out.push_back(item);
    }
    return absl::OkStatus();
  }

  const MissingKeys missing_;
};

absl::StatusOr<std::vector<json::Value>> JsonPath::Find(const json::Value& root,
                                                        MissingKeys missing) const {
  Values all;
  for (const Nodes& piece : pieces_) {
    ASSIGN_OR_RETURN(const Values found, Evaluation(missing).Run(piece, {root}));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

absl::StatusOr<std::string> JsonPath::Print(const json::Value& root, MissingKeys missing) const {
  std::string text;
  for (const Nodes& piece : pieces_) {
    ASSIGN_OR_RETURN(const Values found, Evaluation(missing).Run(piece, {root}));
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
