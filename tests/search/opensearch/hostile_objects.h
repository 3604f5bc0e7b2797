// Objects that are hard to index: custom resources may contain anything.
#ifndef TESTS_SEARCH_OPENSEARCH_HOSTILE_OBJECTS_H_
#define TESTS_SEARCH_OPENSEARCH_HOSTILE_OBJECTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tests {

// Pairs of a description and the object's JSON. All are of kind x.io/v1 Thing; names and uids are
// thing-0, thing-1 and so on.
inline std::vector<std::pair<std::string, std::string>> HostileObjects() {
  const auto repeated = [](int count, const std::string& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  std::string fields;
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&fields, i == 0 ? "" : ",", "\"f", i, "\":", i);
  const std::string umlauts = "x" + repeated(20000, "\xC3\xA4");
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"one type", R"("spec":{"size":1})"},
      {"another type", R"("spec":{"size":{"min":"a"}})"},
      {"a third type", R"("spec":{"size":[["x"],null,{"a":[]}]})"},
      {"spec is a string", R"("spec":"large")"},
      {"spec is a list", R"("spec":[{"a":1},2])"},
      {"spec is a number, status false", R"("spec":3,"status":false)"},
      {"empty objects", R"("spec":{},"status":{"a":{},"b":[]})"},
      {"nulls", R"("spec":{"a":null,"b":[null]})"},
      {"5,000 fields", absl::StrCat(R"("spec":{)", fields, "}")},
      {"33 kB string", absl::StrCat(R"("spec":{"a":")", std::string(33000, 'x'), "\"}")},
      {"40 kB of two-byte characters", absl::StrCat(R"("spec":{"a":[")", umlauts, "\"]}")},
      {"33 kB annotation",
       absl::StrCat(R"("m":1,"status":{"text":")", std::string(32766, 'y'), "\"}")},
      {"names with dots", R"("spec":{"a.b.c":1,".":2,"..":3,"a..b":4,".x":5,"x.":6,"":7," ":8})"},
      {"a long name", absl::StrCat(R"("spec":{")", std::string(33000, 'n'), R"(":1,"b":2})")},
      {"deep", absl::StrCat(R"("spec":)", repeated(300, R"({"a":)"), "1", std::string(300, '}'))},
      {"fields of the document", R"("cluster":{"x":1},"group":[1],"rest":{"rest":3},"summary":"s",)"
                                 R"("labels":3,"created":"never","uid":{"a":1})"},
      {"typed fields with other types",
       R"("spec":{"replicas":"many","containers":"none"},"status":{"phase":7,"conditions":"ok"})"},
      {"odd characters", R"("spec":{"a":"\u0000\ud800\u2028\n\"","\u0000":1,"b":"\ud83d\ude00"})"},
      {"large numbers", R"("spec":{"a":9223372036854775807,"b":1e300,"c":-0.5,"replicas":1e300})"},
  };
  std::vector<std::pair<std::string, std::string>> objects;
  for (size_t i = 0; i < contents.size(); ++i) {
    objects.emplace_back(
        contents[i].first,
        absl::StrCat(
            R"({"apiVersion":"x.io/v1","kind":"Thing","metadata":{"annotations":{"long":")",
            i == 11 ? std::string(33000, 'z') : "", R"("},"labels":{"i":")", i,
            R"(","x.io/l":""},"name":"thing-)", i, R"(","namespace":"n","resourceVersion":")",
            i + 1, R"(","uid":"thing-)", i, "\"},", contents[i].second, "}"));
  }
  return objects;
}

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_HOSTILE_OBJECTS_H_
