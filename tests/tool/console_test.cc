#include "tool/console.h"

#include <catch2/catch.hpp>

#include "tool/table.h"

namespace tool {

TEST_CASE("Text of others cannot steer the terminal") {
  CHECK(OneLine("a\x1b[2Jb\x07\x7f") == "a\\x1b[2Jb\\x07\\x7f");
  CHECK(OneLine("\xc2\x9b"
                "31m") == "\\u009b31m");
  CHECK(OneLine("a\xe2\x80\xae"
                "b\xe2\x81\xa9") == "a\\u202eb\\u2069");
  CHECK(OneLine(absl::string_view("a\0b", 3)) == "a\\x00b");
  // The single byte means the same as U+009B to some terminals.
  CHECK(OneLine("a\x9b"
                "31m") == "a\\x9b31m");
  CHECK(OneLine("a\xe2\x80\xa8"
                "b\xe2\x80\x8f"
                "c\xd8\x9c") == "a\\u2028b\\u200fc\\u061c");
}

TEST_CASE("A message of others is one line, a text of others keeps its lines") {
  CHECK(OneLine("fine\r\n[ok]\tx") == "fine\\r\\n[ok]\\tx");
  CHECK(Printable("fine\r\n\tx\x1b") == "fine\\r\n\tx\\x1b");
}

TEST_CASE("Text in any language stays as it is") {
  for (const char* text :
       {"", "plain", "Größe → 3", "└─ 日本語", "“quoted”", "\xc2\xa0", "\xe2", "\xff\xc2"}) {
    CHECK(OneLine(text) == text);
    CHECK(Printable(text) == text);
  }
}

TEST_CASE("A cell of a table is one line and cannot steer the terminal") {
  Table table({"NAME", "WHY"});
  table.Add({"web", "no\n\x1b[2J"});
  CHECK(table.Text(Colours(false)) == "NAME   WHY\nweb    no\\n\\x1b[2J\n");
}

}  // namespace tool
