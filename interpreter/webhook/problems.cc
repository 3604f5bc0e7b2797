#include "interpreter/webhook/problems.h"

#include "absl/strings/str_cat.h"

namespace interpreter::webhook {

void Problems::Required(absl::string_view field, absl::string_view why) {
  texts_.push_back(absl::StrCat(field, ": Required value", why.empty() ? "" : ": ", why));
}

void Problems::Invalid(absl::string_view field, const json::Value& value, absl::string_view why) {
  texts_.push_back(absl::StrCat(field, ": Invalid value: ", json::Write(value), ": ", why));
}

void Problems::Unsupported(absl::string_view field, const json::Value& value,
                           absl::Span<const std::string> supported) {
  std::string list;
  for (const std::string& one : supported) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", json::Write(one));
  }
  texts_.push_back(absl::StrCat(field, ": Unsupported value: ", json::Write(value),
                                ": supported values: ", list));
}

void Problems::Duplicate(absl::string_view field, const json::Value& value) {
  texts_.push_back(absl::StrCat(field, ": Duplicate value: ", json::Write(value)));
}

void Problems::Add(const Problems& others) {
  texts_.insert(texts_.end(), others.texts_.begin(), others.texts_.end());
}

std::string Child(absl::string_view field, absl::string_view name) {
  return absl::StrCat(field, ".", name);
}

std::string Item(absl::string_view field, size_t index) {
  return absl::StrCat(field, "[", index, "]");
}

}  // namespace interpreter::webhook
