#include "base/cut_text.h"

#include <catch2/catch.hpp>
#include <string>

namespace base {

TEST_CASE("text is cut between characters, and says so") {
  CHECK(CutText("", 10).empty());
  CHECK(CutText("0123456789", 10) == "0123456789");
  CHECK(CutText("0123456789a", 10) == "0123 [cut]");
  CHECK(CutText("012\u00e4456789", 10) == "012 [cut]");
  CHECK(CutText("0\U0001F600456789", 10) == "0 [cut]");
  CHECK(CutText(std::string(20, '\x80'), 10).size() <= 10);
}

}  // namespace base
