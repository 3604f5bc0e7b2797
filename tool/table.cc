#include "tool/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tool {
namespace {

constexpr size_t kGap = 3;

// Counts UTF-8 characters: every byte except continuation bytes.
size_t WidthOf(const std::string& cell) {
  return std::count_if(cell.begin(), cell.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = OneLine(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text(const Colours& colours) const {
  std::vector<size_t> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t padding = i + 1 == row.size() ? 0 : widths[i] - WidthOf(row[i]) + kGap;
      absl::StrAppend(&line, row[i], std::string(padding, ' '));
    }
    absl::StrAppend(&text, &row == &rows_[0] ? colours.Bold(line) : line, "\n");
  }
  return text;
}

}  // namespace tool
