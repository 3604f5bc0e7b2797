// Formats columns of text as kubectl does.
#ifndef TOOL_TABLE_H_
#define TOOL_TABLE_H_

#include <string>
#include <vector>

#include "tool/console.h"

namespace tool {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  // REQUIRES: the row has as many cells as the header.
  void Add(std::vector<std::string> row);
  // Returns the header and the rows, each column as wide as its widest cell; the last one is not
  // padded. Cells may be text of others: OneLine is what is shown of them.
  std::string Text(const Colours& colours) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tool

#endif  // TOOL_TABLE_H_
