// JSONPath templates as kubectl, printer columns and state preservation rules have them: text in
// which each {expression} stands for what it finds in a JSON value. Without braces there is nothing
// but text.
//
//   ASSIGN_OR_RETURN(const kube::JsonPath path, kube::JsonPath::Parse("{ .updatedReplicas }"));
//   ASSIGN_OR_RETURN(std::string text, path.Print(status));
//
// An expression consists of .name, ['name'], [0], [-1], [1:3], [0,2], [*], .*, ..name and
// [?(@.type=="Ready")]; it may also be a quoted text, a number or a boolean. A dot in a name is
// escaped (['a\.b']). `range` is refused. Copies client-go's util/jsonpath, but for values of
// different types, which a filter takes for different (an error there), and for integers, which are
// printed with all their digits (1e+06 there).
#ifndef KUBE_META_JSON_PATH_H_
#define KUBE_META_JSON_PATH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube {

class JsonPath {
 public:
  // What an expression gives that names an absent member: an error, or nothing.
  enum class MissingKeys { kError, kSkip };

  // How much several evaluations may do together. Each value that a step of an expression looks at
  // counts as one step of work, and so do 64 bytes of a text that is compared.
  class Budget {
   public:
    static constexpr int64_t kSteps = 1000000;

    int64_t left() const { return left_; }
    // Returns false once everything is spent.
    bool Spend(int64_t steps) {
      left_ = left_ < steps ? -1 : left_ - steps;
      return left_ >= 0;
    }

   private:
    int64_t left_ = kSteps;  // -1: more was asked for than there was.
  };

  // The longest template, in bytes.
  static constexpr size_t kMaxLength = 64 << 10;

  // kInvalidArgument for a text that is not a template, or is longer than kMaxLength.
  static absl::StatusOr<JsonPath> Parse(absl::string_view text);

  // Returns the values that all expressions find, in order. kNotFound for an absent member,
  // kInvalidArgument for a subscript of what is not a list, for an index out of bounds, for more
  // results of an expression than 10 000, and for more work than Budget::kSteps.
  absl::StatusOr<std::vector<json::Value>> Find(const json::Value& root,
                                                MissingKeys missing = MissingKeys::kError) const;
  // Returns the template with the values in it: strings as they are, lists and objects as JSON,
  // several values of one expression with spaces between them. Errors are those of Find, and
  // kInvalidArgument for more than a mebibyte of text.
  absl::StatusOr<std::string> Print(const json::Value& root,
                                    MissingKeys missing = MissingKeys::kError) const;
  // Returns what Print with kError returns. Several templates can share one budget.
  absl::StatusOr<std::string> Print(const json::Value& root, Budget& budget) const;

 private:
  struct Node;
  using Nodes = std::vector<Node>;
  using Values = std::vector<json::Value>;
  class Parser;
  class Evaluation;
  absl::StatusOr<std::string> PrintWith(const Evaluation& evaluation,
                                        const json::Value& root) const;

  // A step of an expression, or a text between expressions.
  struct Node {
    enum class Kind { kLiteral, kMember, kSlice, kFilter, kAll, kRecursive, kUnion };
    Kind kind = Kind::kLiteral;
    json::Value literal;                           // For kLiteral.
    std::string name;                              // The member, or the operator of a filter.
    std::array<std::optional<int64_t>, 3> bounds;  // For kSlice: from, to, step.
    bool is_index = false;                         // For kSlice: one element, bounds[0].
    std::vector<Nodes> parts;  // The parts of a union, or both sides of a filter.
  };

  std::vector<Nodes> pieces_;  // Texts and expressions, in order.
};

}  // namespace kube

#endif  // KUBE_META_JSON_PATH_H_
