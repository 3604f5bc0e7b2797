// The command line of search_load: --name=value.
#ifndef TESTS_BENCH_SEARCH_LOAD_OPTIONS_H_
#define TESTS_BENCH_SEARCH_LOAD_OPTIONS_H_

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace load {

class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 0; i < argc; ++i) {
      const absl::string_view word = argv[i];
      if (!absl::StartsWith(word, "--") || !absl::StrContains(word, '=')) {
        throw std::runtime_error(absl::StrCat("\"", word, "\" is not of the form --name=value"));
      }
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(word.substr(2), absl::MaxSplits('=', 1));
      values_.insert(pair);
    }
  }

  std::string Text(const std::string& name, const std::string& otherwise = "") const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  int Number(const std::string& name, int otherwise) const {
    int number = otherwise;
    const std::string text = Text(name, absl::StrCat(otherwise));
    if (!absl::SimpleAtoi(text, &number)) {
      throw std::runtime_error(absl::StrCat("--", name, "=", text, " is not a number"));
    }
    return number;
  }

 private:
  std::map<std::string, std::string> values_;
};

// Puts a number in the place of {n}, and its rest by `groups` in the place of {group}.
inline std::string Numbered(absl::string_view text, int number, int groups) {
  return absl::StrReplaceAll(
      text, {{"{n}", absl::StrCat(number)}, {"{group}", absl::StrCat(number % groups)}});
}

// Makes a request of HTTP/1.1; `headers` are whole lines.
inline std::string RequestText(absl::string_view method, absl::string_view path,
                               absl::string_view headers, absl::string_view body) {
  return absl::StrCat(method, " ", path,
                      " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: search_load\r\n", headers,
                      "Content-Length: ", body.size(), "\r\n\r\n", body);
}

}  // namespace load

#endif  // TESTS_BENCH_SEARCH_LOAD_OPTIONS_H_
