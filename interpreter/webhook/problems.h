// Collects the mistakes of a document, in the words of apimachinery's field errors.
#ifndef INTERPRETER_WEBHOOK_PROBLEMS_H_
#define INTERPRETER_WEBHOOK_PROBLEMS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace interpreter::webhook {

class Problems {
 public:
  // "<field>: Required value[: <why>]"
  void Required(absl::string_view field, absl::string_view why = "");
  // "<field>: Invalid value: <value as JSON>: <why>"
  void Invalid(absl::string_view field, const json::Value& value, absl::string_view why);
  // "<field>: Unsupported value: <value>: supported values: "a", "b""
  void Unsupported(absl::string_view field, const json::Value& value,
                   absl::Span<const std::string> supported);
  // "<field>: Duplicate value: <value>"
  void Duplicate(absl::string_view field, const json::Value& value);

  void Add(const Problems& others);
  bool empty() const { return texts_.empty(); }
  size_t size() const { return texts_.size(); }
  // Returns the last problem; "" when there is none.
  std::string Last() const { return texts_.empty() ? "" : texts_.back(); }
  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

// Return "<field>.<name>" and "<field>[<index>]".
std::string Child(absl::string_view field, absl::string_view name);
std::string Item(absl::string_view field, size_t index);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_PROBLEMS_H_
