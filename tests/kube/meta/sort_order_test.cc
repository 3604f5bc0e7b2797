#include "kube/meta/sort_order.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

SortOrder Order(const std::string& text) {
  auto order = SortOrder::Parse(text);
  INFO(text << ": " << order.status());
  REQUIRE(order.ok());
  return *std::move(order);
}

int Compare(const std::string& order_text, const std::string& a, const std::string& b) {
  const SortOrder order = Order(order_text);
  const SortOrder::Values values_a = order.ValuesOfText(a), values_b = order.ValuesOfText(b);
  const int result = order.Compare(values_a, values_b);
  CHECK(order.Compare(values_b, values_a) == -result);
  // Written and read, values compare as before.
  const auto again = order.FromJson(json::Parse(json::Write(SortOrder::ToJson(values_a))).value());
  REQUIRE(again.ok());
  CHECK(order.Compare(*again, values_a) == 0);
  CHECK(order.Compare(*again, values_b) == result);
  return result;
}

TEST_CASE("an order that cannot be read is refused") {
  for (const char* text : {",", "-", "metadata.name,", "a[", "{.a}{.b}["}) {
    CAPTURE(text);
    CHECK(absl::IsInvalidArgument(SortOrder::Parse(text).status()));
  }
  CHECK(SortOrder::Parse("a[").status().message().substr(0, 9) == "sort: a[:");
  CHECK(Order("").empty());
  CHECK(Order("a,b[0,1],-c").size() == 3);
}

TEST_CASE("values are compared as numbers, quantities and texts, in this order") {
  CHECK(Compare("n", R"({"n":9})", R"({"n":10})") == -1);
  CHECK(Compare("-n", R"({"n":9})", R"({"n":10})") == 1);
  CHECK(Compare("n", R"({"n":"900Mi"})", R"({"n":"1Gi"})") == -1);
  CHECK(Compare("n", R"({"n":"100m"})", R"({"n":1})") == -1);
  CHECK(Compare("n", R"({"n":1})", R"({"n":"a"})") == -1);
  CHECK(Compare("n", R"({"n":"2026-01-02T00:00:00Z"})", R"({"n":"2026-01-10T00:00:00Z"})") == -1);
  CHECK(Compare("n", R"({"n":"1e400"})", R"({"n":"x"})") == -1);
  CHECK(Compare("n", R"({"n":true})", R"({"n":true})") == 0);
}

TEST_CASE("absent values are last in either direction") {
  CHECK(Compare("n", R"({"n":1})", "{}") == -1);
  CHECK(Compare("-n", R"({"n":1})", "{}") == -1);
  CHECK(Compare("n", R"({"n":null})", "{}") == 0);
  CHECK(Compare("n", "no object", "{}") == 0);
}

TEST_CASE("the first field that differs decides") {
  CHECK(Compare("a.b,-c", R"({"a":{"b":1},"c":1})", R"({"a":{"b":1},"c":2})") == 1);
  CHECK(Compare("{.a['x\\.io/y']},c", R"({"a":{"x.io/y":"p"},"c":9})",
                R"({"a":{"x.io/y":"q"},"c":1})") == -1);
  CHECK(Compare("l[?(@.t==\"b\")].v", R"({"l":[{"t":"a","v":3},{"t":"b","v":1}]})",
                R"({"l":[{"t":"b","v":2}]})") == -1);
}

TEST_CASE("an order has eight fields at most") {
  CHECK(Order("a,b,c,d,e,f,g,h").size() == 8);
  const auto nine = SortOrder::Parse("a,b,c,d,e,f,g,h,i");
  CHECK(absl::IsInvalidArgument(nine.status()));
  CHECK(nine.status().message() == "sort: 9 fields are too many: a list is sorted by 8 at most");
}

TEST_CASE("what is kept of an object is short, whatever the object is") {
  const std::string text(1 << 20, 'x');
  const SortOrder order = Order("a,b,c");
  const SortOrder::Values values = order.ValuesOfText(
      absl::StrCat(R"({"a":")", text, R"(","b":{"x":")", text, R"("},"c":[")", text, R"("]})"));
  CHECK(SortOrder::BytesOf(values) <= 1024);
  CHECK(values[0].text.size() <= SortOrder::kMaxText);
  // Objects and arrays have no order.
  CHECK(Compare("n", R"({"n":{"a":1}})", "{}") == 0);
  CHECK(Compare("n", R"({"n":[1]})", R"({"n":1})") == 1);
  // Texts differ where they are compared.
  CHECK(Compare("n", absl::StrCat(R"({"n":"a)", text, "\"}"),
                absl::StrCat(R"({"n":"b)", text, "\"}")) == -1);
}

TEST_CASE("values of another order are refused") {
  const SortOrder order = Order("a,b");
  for (const char* text : {"null", "{}", "[]", "[1]", "[1,2,3]", "[1,{}]", "[[],true]"}) {
    CAPTURE(text);
    CHECK(absl::IsInvalidArgument(order.FromJson(json::Parse(text).value()).status()));
  }
  CHECK(order.FromJson(json::Parse(R"([null,"x"])").value()).ok());
}

}  // namespace
}  // namespace kube
