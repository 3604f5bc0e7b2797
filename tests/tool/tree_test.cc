#include "tool/tree.h"

#include <catch2/catch.hpp>

namespace tool {

TEST_CASE("A tree has a line for each node, joined to the one that it belongs to") {
  const TreeNode tree{"root", {{"a", {{"b", {{"c", {}}}}, {"d", {}}}}, {"e", {{"f", {}}}}}};
  CHECK(TreeText(tree) ==
        "root\n"
        "├─ a\n"
        "│  ├─ b\n"
        "│  │  └─ c\n"
        "│  └─ d\n"
        "└─ e\n"
        "   └─ f\n");
  CHECK(TreeText({"alone", {}}) == "alone\n");
}

}  // namespace tool
