#include "tests/prove/search/search_workload.h"

#include <array>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"

namespace prove {
namespace {

using Kind = MemberChange::Kind;

constexpr std::array<std::pair<absl::string_view, Kind>, 4> kVerbs = {{
    {"create", Kind::kCreate},
    {"update", Kind::kUpdate},
    {"delete", Kind::kDelete},
    {"recreate", Kind::kRecreate},
}};

// Reads changes, and knows what there is after them.
class Changes {
 public:
  explicit Changes(unsigned seed) : random_(seed) {}
  void BeginStep(size_t number) { random_.seed(static_cast<unsigned>(number)); }

  absl::Status Read(const std::string& text, SearchStep& step) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    if (words.size() != 3) return Wrong(text);
    int count = 0;
    if (words[1] == "churn") {
      if (!absl::SimpleAtoi(words[2], &count)) return Wrong(text);
      for (int i = 0; i < count; ++i) Add(AnyOf(words[0]), step);
      return absl::OkStatus();
    }
    const std::vector<std::string> key = absl::StrSplit(words[2], '/');
    for (const auto& [verb, kind] : kVerbs) {
      if (verb != words[1] || key.size() != 2) continue;
      Add({.kind = kind, .member = words[0], .ns = key[0], .name = key[1]}, step);
      return absl::OkStatus();
    }
    return Wrong(text);
  }

 private:
  static absl::Status Wrong(const std::string& text) {
    return absl::InvalidArgumentError(absl::StrCat("not a change: ", text));
  }
  static std::string Id(const MemberChange& change) {
    return absl::StrCat(change.member, " ", change.ns, "/", change.name);
  }

  MemberChange AnyOf(const std::string& member) {
    MemberChange change{.member = member,
                        .ns = random_() % 2 == 0 ? "one" : "two",
                        .name = std::string(1, static_cast<char>('a' + random_() % 6))};
    if (!there_.contains(Id(change))) return change;
    const auto die = random_() % 5;
    change.kind = die == 0 ? Kind::kDelete : die == 1 ? Kind::kRecreate : Kind::kUpdate;
    return change;
  }

  // Some changes come at once after the one before; the moments of others are those at which
  // readers ask.
  void Add(MemberChange change, SearchStep& step) {
    constexpr int kPauses[] = {0, 0, 100, 250, 500};
    change.pause_ms = kPauses[random_() % std::size(kPauses)];
    change.kind == Kind::kDelete ? there_.erase(Id(change)) : there_.insert(Id(change)).second;
    step.push_back(std::move(change));
  }

  std::minstd_rand random_;
  std::set<std::string> there_;
};

}  // namespace

absl::StatusOr<SearchWorkload> ReadSearchWorkload(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  ASSIGN_OR_RETURN(const json::Value file, yaml::Parse(text));
  SearchWorkload workload;
  Changes changes(1);
  for (const json::Value& list : file["steps"].items()) {
    SearchStep step;
    changes.BeginStep(workload.steps.size() + 1);
    for (const json::Value& change : list.items()) {
      RETURN_IF_ERROR(changes.Read(std::string(change.AsString()), step));
    }
    workload.steps.push_back(std::move(step));
  }
  if (workload.steps.empty()) return absl::InvalidArgumentError(path + ": no steps");
  return workload;
}

}  // namespace prove
