// What every watch of our servers looks like that begins with one object and ends the initial
// objects with a bookmark, in each form. Each server that writes watches is checked by it.
#ifndef TESTS_KUBE_SERVER_WATCH_LINES_H_
#define TESTS_KUBE_SERVER_WATCH_LINES_H_

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tests {

// The lines of a watch for an Accept header: the object and the bookmark.
using WatchLines = std::function<std::vector<json::Value>(const std::string& accept)>;

inline constexpr char kWatchList[] =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

inline std::vector<json::Value> TwoLines(const WatchLines& watch, const std::string& accept) {
  const std::vector<json::Value> lines = watch(accept);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["type"].AsString() == "ADDED");
  CHECK(lines[1]["type"].AsString() == "BOOKMARK");
  return {lines[0]["object"], lines[1]["object"]};
}

// The metadata of the bookmark: a version and the annotation, and nothing else.
inline void CheckMark(const json::Value& metadata, const std::string& version) {
  CHECK(metadata ==
        json::Value::Object(
            {{"annotations", json::Value::Object({{"k8s.io/initial-events-end", "true"}})},
             {"resourceVersion", version}}));
}

inline void CheckFormsOfWatch(const WatchLines& watch, const std::string& kind,
                              const std::string& name) {
  const std::string meta = ";v=v1;g=meta.k8s.io";
  const auto plain = TwoLines(watch, "application/json");
  CHECK(plain[0]["kind"].AsString() == kind);
  CHECK(plain[0]["metadata"]["name"].AsString() == name);
  CHECK(plain[1]["kind"].AsString() == kind);
  CHECK(plain[1]["apiVersion"] == plain[0]["apiVersion"]);
  CHECK(plain[1].size() == 3);
  const std::string version = plain[1]["metadata"]["resourceVersion"].ToString();
  CHECK_FALSE(version.empty());
  CheckMark(plain[1]["metadata"], version);

  const auto partial = TwoLines(watch, "application/json;as=PartialObjectMetadata" + meta);
  for (const json::Value& object : partial) {
    CHECK(object["kind"].AsString() == "PartialObjectMetadata");
    CHECK(object.size() == 3);
  }
  CHECK(partial[0]["metadata"]["name"].AsString() == name);
  CheckMark(partial[1]["metadata"], version);

  const auto table = TwoLines(watch, "application/json;as=Table" + meta);
  for (const json::Value& object : table) {
    CHECK(object["kind"].AsString() == "Table");
    REQUIRE(object["rows"].size() == 1);
  }
  CHECK(table[0]["columnDefinitions"].At(0)["name"].AsString() == "Name");
  CHECK(table[1]["columnDefinitions"].is_null());
  CHECK(table[0]["rows"].At(0)["cells"].At(0).AsString() == name);
  CHECK(table[0]["rows"].At(0)["object"]["metadata"]["name"].AsString() == name);
  CHECK(table[1]["metadata"]["resourceVersion"].AsString() == version);
  CheckMark(table[1]["rows"].At(0)["object"]["metadata"], version);
}

}  // namespace tests

#endif  // TESTS_KUBE_SERVER_WATCH_LINES_H_
