// Prints a tree of lines with marks.
#ifndef CMD_LENS_TREE_H_
#define CMD_LENS_TREE_H_

#include <string>

#include "lens/why/report.h"
#include "tool/console.h"

namespace cmd::lens {

// Returns the tree with a line for each node. Marks are words in brackets, so that they are read
// without colours, too.
std::string TreeText(const ::lens::why::Node& root, const tool::Colours& colours);

}  // namespace cmd::lens

#endif  // CMD_LENS_TREE_H_
