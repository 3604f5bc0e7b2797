// Converts numbers to text, in the form of upstream's tostring.
#ifndef LUA_INTERNAL_NUMBER_H_
#define LUA_INTERNAL_NUMBER_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace lua::internal {

// Gives "3" for 3.0, else the shortest text that reads back as the same number; with an exponent
// below 1e-4 and from 1e21 on.
class NumberText {
 public:
  explicit NumberText(double number);
  absl::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 48> text_;
  size_t size_ = 0;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_NUMBER_H_
