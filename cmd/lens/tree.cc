#include "cmd/lens/tree.h"

#include "absl/strings/str_cat.h"
#include "tool/tree.h"

namespace cmd::lens {
namespace {

using ::lens::why::Mark;
using ::lens::why::Node;

std::string MarkText(Mark mark, const tool::Colours& colours) {
  const std::string text = absl::StrCat("[", ::lens::why::MarkName(mark), "]");
  switch (mark) {
    case Mark::kFine:
      return absl::StrCat(colours.Green(text), " ");
    case Mark::kStuck:
      return absl::StrCat(colours.Red(text), " ");
    case Mark::kWaiting:
      return absl::StrCat(colours.Yellow(text), " ");
    case Mark::kNote:
      return absl::StrCat(colours.Bold(text), " ");
    case Mark::kNone:
      break;
  }
  return "";
}

tool::TreeNode Drawn(const Node& node, const tool::Colours& colours) {
  tool::TreeNode drawn{absl::StrCat(MarkText(node.mark, colours), tool::OneLine(node.text)), {}};
  for (const Node& child : node.children) drawn.children.push_back(Drawn(child, colours));
  return drawn;
}

}  // namespace

std::string TreeText(const Node& root, const tool::Colours& colours) {
  tool::TreeNode tree = Drawn(root, colours);
  tree.line = absl::StrCat(MarkText(root.mark, colours), colours.Bold(tool::OneLine(root.text)));
  return tool::TreeText(tree);
}

}  // namespace cmd::lens
