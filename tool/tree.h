// Trees of text, drawn with box characters.
#ifndef TOOL_TREE_H_
#define TOOL_TREE_H_

#include <string>
#include <vector>

namespace tool {

// One line and what is below it. The line is shown as it is: it may have colours, and text of
// others in it has passed through OneLine.
struct TreeNode {
  std::string line;
  std::vector<TreeNode> children;
};

// Returns the root's line and below it, indented, those of its children. Each ends in a newline.
std::string TreeText(const TreeNode& root);

}  // namespace tool

#endif  // TOOL_TREE_H_
