// Differences of texts for people to read.
#include <catch2/catch.hpp>
#include <string>

#include "interpreter/customized/line_diff.h"

using interpreter::customized::LineDiff;

TEST_CASE("a difference marks lines and leaves out what is far from it") {
  struct Example {
    std::string want, got, diff;
  };
  const Example example =
      GENERATE(Example{"a\nb\n", "a\nb\n", ""}, Example{"", "a\n", "+a\n"},
               Example{"a\n", "", "-a\n"}, Example{"a\nb\nc\n", "a\nx\nc\n", " a\n-b\n+x\n c\n"},
               Example{"a\nb\n", "b\nc\n", "-a\n b\n+c\n"},
               Example{"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n7\n", " ...\n 3\n 4\n 5\n-6\n+7\n"},
               Example{"0\n1\n2\n3\n4\n5\n6\n7\n8\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n",
                       "-0\n+x\n 1\n 2\n 3\n ...\n 5\n 6\n 7\n-8\n+y\n"});
  CHECK(LineDiff(example.want, example.got) == example.diff);
}

TEST_CASE("texts too long to be compared line by line differ as a whole") {
  std::string want, got;
  for (int i = 0; i < 3000; ++i) want += "same\n", got += "same\n";
  got += "more\n";
  CHECK_THAT(LineDiff(want, got), Catch::EndsWith("+more\n"));
}
