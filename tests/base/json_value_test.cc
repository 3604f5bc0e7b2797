#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace {

using json::Value;

const std::string kLong = "a string that is too long to be stored inside the value";

std::vector<std::string> NamesOf(const Value& object) {
  std::vector<std::string> names;
  for (const json::Member& m : object.members()) names.emplace_back(m.name());
  return names;
}

TEST_CASE("a value answers with its own type and with the default for every other") {
  CHECK(Value().is_null());
  CHECK(Value(nullptr).is_null());
  CHECK(Value(true).AsBool());
  CHECK(Value(7).AsInt() == 7);
  CHECK(Value(0.5).AsDouble() == 0.5);
  CHECK(Value(7).AsDouble() == 7.0);
  CHECK(Value("text").AsString() == "text");
  CHECK(Value("7").AsInt(-1) == -1);
  CHECK(Value(1).AsBool(true));
  CHECK(Value(0).AsBool(true));
  CHECK(Value(7).AsString("otherwise") == "otherwise");
  CHECK(Value(0.5).AsInt(-1) == -1);
  CHECK(Value(2.0).AsInt() == 2);
  CHECK(Value(1e300).AsInt(-1) == -1);
  CHECK(Value(9223372036854775808.0).AsInt(-1) == -1);
  CHECK(Value(-9223372036854775808.0).AsInt() == std::numeric_limits<int64_t>::min());
}

TEST_CASE("strings of every length around the in-place limit keep their bytes") {
  for (size_t length = 0; length <= 40; ++length) {
    std::string text(length, 'x');
    if (length > 2) text[1] = '\0';
    const Value value(text);
    const Value copy = value;
    REQUIRE(copy.is_string());
    REQUIRE(copy.AsString() == text);
    REQUIRE(copy == value);
  }
}

TEST_CASE("what is absent reads as null, and can be distinguished from null") {
  const Value v = Value::Object({{"a", Value::Object({{"b", 1}})}, {"n", Value()}});
  CHECK(v["a"]["b"].AsInt() == 1);
  CHECK(v.Get({"a", "b"}).AsInt() == 1);
  CHECK(v.Get({}).is_object());
  CHECK(v.Get({"a", "x", "y"}).is_null());
  CHECK(v.Get({"a", "b", "c"}).is_null());
  CHECK(v["n"].is_null());
  CHECK(v.Has("n"));
  CHECK_FALSE(v.Has("m"));
  CHECK(v.FindPath({"a", "x"}) == nullptr);
  CHECK(v.At(0).is_null());
  CHECK(Value::Array({1, 2}).At(1).AsInt() == 2);
  CHECK(Value::Array({1, 2}).At(2).is_null());
  CHECK(Value("text").size() == 0);
  CHECK(Value(1)["a"].is_null());
}

TEST_CASE("members are sorted by name whatever the order they came in") {
  Value v = Value::Object({{"b", 1}, {"a", 2}, {"c", 3}});
  v.Set("aa", 4);
  v.Set("", 5);
  CHECK(NamesOf(v) == std::vector<std::string>{"", "a", "aa", "b", "c"});
  CHECK(Value::Object({{"a", 1}, {"b", 2}}) == Value::Object({{"b", 2}, {"a", 1}}));
}

TEST_CASE("a repeated name keeps its last value") {
  const Value v = Value::Object({{"a", 1}, {"b", 2}, {"a", 3}, {"a", 4}});
  CHECK(v.size() == 2);
  CHECK(v["a"].AsInt() == 4);
}

TEST_CASE("setting a path makes objects of what is in the way") {
  Value v;
  v.Set({"metadata", "labels", "app"}, "x");
  CHECK(v ==
        Value::Object({{"metadata", Value::Object({{"labels", Value::Object({{"app", "x"}})}})}}));
  v.Set({"metadata", "labels"}, 1);
  v.Set({"metadata", "labels", "b"}, true);
  CHECK(v.Get({"metadata", "labels"}) == Value::Object({{"b", true}}));
}

TEST_CASE("erasing says whether there was something and leaves emptied parents") {
  Value v = Value::Object({{"a", Value::Object({{"b", 1}})}, {"c", 2}});
  CHECK_FALSE(v.Erase("x"));
  CHECK_FALSE(v.Erase({"a", "x"}));
  CHECK_FALSE(v.Erase({"c", "x"}));
  CHECK_FALSE(v.Erase(json::Path()));
  CHECK(v["c"].AsInt() == 2);
  CHECK(v.Erase({"a", "b"}));
  CHECK(v["a"] == Value::Object());
  CHECK(v.Erase("a"));
  CHECK(NamesOf(v) == std::vector<std::string>{"c"});
  Value number = 1;
  CHECK_FALSE(number.Erase("a"));
  CHECK(number.AsInt() == 1);
}

TEST_CASE("items can be appended, inserted, changed and erased") {
  Value v = Value::Array({1, 3});
  v.Insert(1, 2);
  v.Append(4);
  v.MutableAt(0) = "one";
  CHECK(v == Value::Array({"one", 2, 3, 4}));
  v.EraseAt(0);
  CHECK(v == Value::Array({2, 3, 4}));
  Value made;
  made.Append(1);
  CHECK(made == Value::Array({1}));
  CHECK(Value::Strings({"a", "b"}) == Value::Array({"a", "b"}));
}

TEST_CASE("changing a copy leaves the original and every other copy alone") {
  const Value original =
      Value::Object({{"list", Value::Array({Value::Object({{"name", kLong}}), 2})},
                     {"other", Value::Object({{"x", 1}})}});
  const Value untouched = original;
  Value copy = original;
  CHECK(copy.SharesWith(original));
  copy.Mutable("list").MutableAt(0).Set("name", "changed");
  copy.Erase({"other", "x"});
  copy.Set("new", true);
  CHECK(original["list"].At(0)["name"].AsString() == kLong);
  CHECK(original["other"]["x"].AsInt() == 1);
  CHECK_FALSE(original.Has("new"));
  CHECK(original.SharesWith(untouched));
  CHECK(copy["list"].At(0)["name"].AsString() == "changed");
}

TEST_CASE("a change clones only the containers on its way") {
  const Value original =
      Value::Object({{"a", Value::Object({{"x", 1}})}, {"b", Value::Array({1})}});
  Value copy = original;
  copy.Set({"a", "x"}, 2);
  CHECK_FALSE(copy["a"].SharesWith(original["a"]));
  CHECK(copy["b"].SharesWith(original["b"]));
}

TEST_CASE("a value may be put into itself, or replaced by a part of itself") {
  Value v = Value::Object({{"a", Value::Array({kLong})}});
  v.Set("self", v);
  CHECK(v["self"] == Value::Object({{"a", Value::Array({kLong})}}));
  Value list = Value::Array({1});
  list.Append(list);
  CHECK(list == Value::Array({1, Value::Array({1})}));

  v = v["a"];
  CHECK(v == Value::Array({kLong}));
  Value outer = Value::Object({{"inner", Value::Object({{"x", kLong}})}});
  outer = std::move(outer.Mutable("inner"));  // The value must not contain itself afterwards.
  CHECK(outer == Value::Object({{"x", kLong}}));
  Value& same = outer;
  outer = same;
  CHECK(outer["x"].AsString() == kLong);
}

TEST_CASE("a value that was moved away is null") {
  Value from = Value::Array({1});
  Value to = std::move(from);
  CHECK(from.is_null());  // NOLINT(bugprone-use-after-move): what is tested.
  Value target = kLong;
  target = std::move(to);
  CHECK(to.is_null());  // NOLINT(bugprone-use-after-move)
  CHECK(target == Value::Array({1}));
}

TEST_CASE("numbers are equal when their mathematical values are") {
  CHECK(Value(1) == Value(1.0));
  CHECK(Value(0) == Value(-0.0));
  CHECK(Value(1) != Value(1.5));
  // 2^53 + 1 is not exactly representable as a double.
  CHECK(Value(int64_t{9007199254740993}) != Value(9007199254740992.0));
  CHECK(Value(int64_t{9007199254740992}) == Value(9007199254740992.0));
  CHECK(Value(std::numeric_limits<int64_t>::max()) != Value(9223372036854775808.0));
  CHECK(Value(std::numeric_limits<int64_t>::min()) == Value(-9223372036854775808.0));
}

TEST_CASE("values of different types or contents are not equal") {
  const std::vector<Value> all = {Value(),
                                  false,
                                  0,
                                  1.5,
                                  "",
                                  "0",
                                  kLong,
                                  Value::Array(),
                                  Value::Array({1}),
                                  Value::Array({1, 2}),
                                  Value::Object(),
                                  Value::Object({{"a", 1}}),
                                  Value::Object({{"a", 2}}),
                                  Value::Object({{"b", 1}}),
                                  Value::Object({{"a", 1}, {"b", 1}})};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      INFO(i << " and " << j);
      CHECK((all[i] == all[j]) == (i == j));
    }
  }
}

TEST_CASE("members are found by name in objects of every size, whatever the order of making") {
  // Names that differ in the last byte, only in size, or by a zero byte; short ones are stored in
  // place, long ones are not.
  std::vector<std::string> names = {"",
                                    std::string("a\0", 2),
                                    "a",
                                    "b",
                                    "ab",
                                    "abcdefghijklmno",
                                    "abcdefghijklmnp",
                                    "abcdefghijklmnop",
                                    "abcdefghijklmnoq"};
  for (int i = 0; i < 40; ++i) names.push_back("name" + std::to_string(i * 7 % 40));
  Value object = Value::Object();
  for (size_t made = 0; made < names.size(); ++made) {
    object.Set(names[made], static_cast<int64_t>(made));
    for (size_t i = 0; i < names.size(); ++i) {
      INFO(made << ": " << i);
      CHECK(object.Has(names[i]) == (i <= made));
      CHECK(object[names[i]].AsInt(-1) == (i <= made ? static_cast<int64_t>(i) : -1));
    }
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  CHECK(NamesOf(object) == sorted);
}

TEST_CASE("members built at once are sorted as strings are, and the last of a name is kept") {
  const std::vector<std::string> names = {"",
                                          "a",
                                          "aa",
                                          std::string("a\0", 2),
                                          "b",
                                          "\xc3\xa4",
                                          "abcdefg",
                                          "abcdefgh",
                                          "abcdefghi",
                                          "abcdefghh",
                                          "abcdefghijklmno",
                                          "abcdefghijklmnp",
                                          "abcdefghijklmnop",
                                          "abcdefghijklmn",
                                          "zzzzzzzzzzzzzzz",
                                          "zzzzzzzzzzzzzzzz"};
  std::mt19937 random(1);  // The same numbers in every run.
  for (const size_t count : {2, 3, 12, 32, 33, 60}) {
    for (int round = 0; round < 20; ++round) {
      std::map<std::string, int64_t> wanted;
      std::vector<json::Member> members;
      for (size_t i = 0; i < count; ++i) {
        const std::string name = names[random() % names.size()] + (i % 3 == 0 ? "x" : "");
        wanted[name] = static_cast<int64_t>(i);
        members.emplace_back(Value(name), Value(static_cast<int64_t>(i)));
      }
      const Value object = Value::OfMembers(std::move(members));
      std::map<std::string, int64_t> got;
      for (const json::Member& m : object.members()) got[std::string(m.name())] = m.value.AsInt();
      INFO(count << " members, round " << round);
      CHECK(got == wanted);
      const std::vector<std::string> order = NamesOf(object);
      CHECK(order.size() == wanted.size());
      CHECK(std::is_sorted(order.begin(), order.end()));
    }
  }
}

}  // namespace
