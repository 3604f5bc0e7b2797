// The values of an enumeration with their texts: one table to write a value, to read it, and to
// list what there is.
//
//   constexpr auto kColours =
//       base::Enumerate<Colour>({{Colour::kRed, "red"}, {Colour::kBlue, "blue"}});
//   kColours.TextOf(Colour::kRed)  // "red"
//   kColours.Named("blue")         // Colour::kBlue
//   kColours.Listed()              // "red, blue"
#ifndef BASE_ENUMERATED_H_
#define BASE_ENUMERATED_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace base {

// A value and its text, which must outlive the table.
template <class Enum>
struct EnumeratedRow {
  Enum value;
  absl::string_view text;
};

// Immutable. The rows keep the order in which they were given.
template <class Enum, size_t N>
class Enumerated {
 public:
  // REQUIRES: a value has one row.
  constexpr explicit Enumerated(const std::array<EnumeratedRow<Enum>, N>& rows) : rows_(rows) {}

  // Returns "" for a value without a row.
  constexpr absl::string_view TextOf(Enum value) const {
    for (const EnumeratedRow<Enum>& row : rows_) {
      if (row.value == value) return row.text;
    }
    return "";
  }

  // Return the value with exactly this text, or with this text in any case; nullopt when there is
  // none.
  std::optional<Enum> Named(absl::string_view text) const {
    for (const EnumeratedRow<Enum>& row : rows_) {
      if (row.text == text) return row.value;
    }
    return std::nullopt;
  }
  std::optional<Enum> NamedInAnyCase(absl::string_view text) const {
    for (const EnumeratedRow<Enum>& row : rows_) {
      if (absl::EqualsIgnoreCase(row.text, text)) return row.value;
    }
    return std::nullopt;
  }

  // Return all values, or all texts, in the order of the rows.
  constexpr std::array<Enum, N> Values() const {
    std::array<Enum, N> values{};
    for (size_t i = 0; i < N; ++i) values[i] = rows_[i].value;
    return values;
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const EnumeratedRow<Enum>& row : rows_) texts.emplace_back(row.text);
    return texts;
  }
  // Returns "red, blue", for messages.
  std::string Listed() const { return absl::StrJoin(Texts(), ", "); }

 private:
  std::array<EnumeratedRow<Enum>, N> rows_;
};

template <class Enum, size_t N>
constexpr Enumerated<Enum, N> Enumerate(const EnumeratedRow<Enum> (&rows)[N]) {
  return Enumerated<Enum, N>(std::to_array(rows));
}

}  // namespace base

#endif  // BASE_ENUMERATED_H_
