#include "cmd/lens/tree.h"

#include "absl/strings/str_cat.h"

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

void AppendChildren(const Node& node, const std::string& indent, const tool::Colours& colours,
                    std::string& text) {
  for (const Node& child : node.children) {
    const bool last = &child == &node.children.back();
    absl::StrAppend(&text, indent, last ? "└─ " : "├─ ", MarkText(child.mark, colours),
                    tool::OneLine(child.text), "\n");
    AppendChildren(child, absl::StrCat(indent, last ? "   " : "│  "), colours, text);
  }
}

}  // namespace

std::string TreeText(const Node& root, const tool::Colours& colours) {
  std::string text =
      absl::StrCat(MarkText(root.mark, colours), colours.Bold(tool::OneLine(root.text)), "\n");
  AppendChildren(root, "", colours, text);
  return text;
}

}  // namespace cmd::lens
