#include "lua/internal/number.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lua::internal {
namespace {

// Whole numbers up to this limit are written with all their digits.
constexpr double kInt64Limit = 9223372036854775808.0;

}  // namespace

NumberText::NumberText(double number) {
  char* begin = text_.data();
  char* end = begin + text_.size();
  if (!std::isfinite(number)) {
    const char* name = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
    size_ = std::strlen(name);
    std::memcpy(begin, name, size_);
    return;
  }
  const double size = std::fabs(number);
  std::to_chars_result written;
  if (number == std::floor(number) && number >= -kInt64Limit && number < kInt64Limit) {
    written = std::to_chars(begin, end, static_cast<int64_t>(number));
  } else if (size < 1e-4 || size >= 1e21) {
    written = std::to_chars(begin, end, number, std::chars_format::scientific);
  } else {
    written = std::to_chars(begin, end, number, std::chars_format::fixed);
  }
  size_ = static_cast<size_t>(written.ptr - begin);
}

}  // namespace lua::internal
