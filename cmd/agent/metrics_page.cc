#include "cmd/agent/metrics_page.h"

#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace cmd {
namespace {

constexpr absl::string_view kLabel = "member_cluster=\"";

struct Family {
  std::string head;  // Its lines # HELP and # TYPE.
  std::string series;
};

// Returns the line of a series with the label; names of clusters need no quoting.
std::string Labelled(absl::string_view line, const std::string& cluster) {
  const size_t end = line.find_first_of("{ ");
  if (cluster.empty()) return std::string(line);
  if (end == absl::string_view::npos) return std::string(line);
  const absl::string_view rest = line.substr(end);
  if (rest[0] != '{') {
    return absl::StrCat(line.substr(0, end), "{", kLabel, cluster, "\"}", rest);
  }
  const absl::string_view labels = rest.substr(1);
  if (absl::StartsWith(labels, kLabel) || absl::StrContains(labels, absl::StrCat(",", kLabel))) {
    return std::string(line);
  }
  return absl::StrCat(line.substr(0, end), "{", kLabel, cluster, "\"", labels[0] == '}' ? "" : ",",
                      labels);
}

class Page {
 public:
  void Add(const std::string& cluster, absl::string_view text) {
    Family* family = nullptr;
    bool is_new = false, is_of_process = false;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (line.empty()) continue;
      if (!absl::StartsWith(line, "# ")) {
        if (family == nullptr || (is_of_process && has_process_)) continue;
        absl::StrAppend(&family->series,
                        is_of_process ? std::string(line) : Labelled(line, cluster), "\n");
        continue;
      }
      const std::vector<absl::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 3));
      if (words.size() < 3) continue;
      const std::string name(words[2]);
      if (name != current_ || family == nullptr) is_new = families_.count(name) == 0;
      current_ = name;
      family = &families_[name];
      is_of_process = absl::StartsWith(name, "process_");
      if (is_new) absl::StrAppend(&family->head, line, "\n");
    }
    has_process_ = true;
    current_.clear();
  }
  std::string Text() const {
    std::string out;
    for (const auto& [name, family] : families_) absl::StrAppend(&out, family.head, family.series);
    return out;
  }

 private:
  std::map<std::string, Family> families_;
  std::string current_;
  bool has_process_ = false;
};

}  // namespace

std::string MergedMetrics(const std::map<std::string, std::string>& pages) {
  Page page;
  for (const auto& [cluster, text] : pages) page.Add(cluster, text);
  return page.Text();
}

}  // namespace cmd
