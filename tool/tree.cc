#include "tool/tree.h"

#include "absl/strings/str_cat.h"

namespace tool {
namespace {

void AppendChildren(const TreeNode& node, const std::string& indent, std::string& text) {
  for (const TreeNode& child : node.children) {
    const bool last = &child == &node.children.back();
    absl::StrAppend(&text, indent, last ? "└─ " : "├─ ", child.line, "\n");
    AppendChildren(child, absl::StrCat(indent, last ? "   " : "│  "), text);
  }
}

}  // namespace

std::string TreeText(const TreeNode& root) {
  std::string text = absl::StrCat(root.line, "\n");
  AppendChildren(root, "", text);
  return text;
}

}  // namespace tool
