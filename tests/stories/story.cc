#include "tests/stories/story.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"

namespace tests {
namespace {

absl::Status CheckNames(const json::Value& mapping, const std::set<std::string>& known,
                        const std::string& where) {
  for (const json::Member& m : mapping.members()) {
    if (known.count(std::string(m.name())) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(where, " has an unknown field ", m.name()));
    }
  }
  return absl::OkStatus();
}

// Reads `member` (for all members), and `member1`, `member2`, whose fields replace those of it.
std::map<std::string, json::Value> ByMember(const json::Value& mapping) {
  std::map<std::string, json::Value> values;
  for (const char* member : kMembers) {
    for (const absl::string_view name : {absl::string_view("member"), absl::string_view(member)}) {
      const json::Value& parts = mapping[name];
      for (const json::Member& m : parts.members()) values[member].Set(m.name(), m.value);
    }
  }
  return values;
}

std::map<std::string, std::string> HealthOf(const json::Value& health) {
  std::map<std::string, std::string> all;
  for (const char* member : kMembers) {
    const std::string one = (health.is_object() ? health[member] : health).ToString();
    if (!one.empty()) all[member] = one;
  }
  return all;
}

std::set<std::string> TextsOf(const json::Value& list) {
  std::set<std::string> texts;
  for (const json::Value& text : list.items()) texts.insert(text.ToString());
  return texts;
}

absl::StatusOr<Phase> ParsePhase(const json::Value& given) {
  const std::string where = absl::StrCat("phase ", given["name"].AsString());
  RETURN_IF_ERROR(CheckNames(given,
                             {"name", "user", "arrived", "member", "member1", "member2", "deletes",
                              "expect", "meanwhile", "left"},
                             where));
  const json::Value& expect = given["expect"];
  RETURN_IF_ERROR(
      CheckNames(expect, {"health", "template", "member", "member1", "member2"}, where));
  if (!given["name"].is_string()) return absl::InvalidArgumentError("a phase has no name");
  Phase phase;
  phase.name = given["name"].ToString();
  phase.user = given["user"];
  phase.arrived = given.Has("arrived") ? given["arrived"] : given["user"];
  phase.member = ByMember(given);
  phase.deletes = TextsOf(given["deletes"]);
  for (const std::string& member : phase.deletes) {
    if (std::find(std::begin(kMembers), std::end(kMembers), member) == std::end(kMembers)) {
      return absl::InvalidArgumentError(absl::StrCat(where, " deletes in no member: ", member));
    }
  }
  phase.health = HealthOf(expect["health"]);
  phase.meanwhile = TextsOf(given["meanwhile"]);
  phase.left = TextsOf(given["left"]);
  phase.expected_template = expect["template"];
  phase.expected_member = ByMember(expect);
  return phase;
}

void ParseTemplates(const json::Value& given, Story& story) {
  const json::Value list = given.is_array() ? given : json::Value::Array({given});
  for (const json::Value& one : list.items()) {
    kube::Object object(one);
    const bool subject = &one == &list.items().back();
    if (!subject || story.namespaced) object.Set({"metadata", "namespace"}, story.id);
    if (subject && !story.namespaced) object.Set({"metadata", "name"}, story.id);
    story.templates.push_back(std::move(object));
  }
}

// Returns "argoproj-io-rollout" for "argoproj.io/Rollout.yaml".
std::string IdOf(const std::string& file) {
  std::string id = absl::AsciiStrToLower(std::filesystem::path(file).replace_extension().string());
  for (char& c : id) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '-';
  }
  return id;
}

absl::StatusOr<Story> Parse(const std::string& file, const std::string& text) {
  Story story;
  story.file = file;
  story.id = IdOf(file);
  ASSIGN_OR_RETURN(const json::Value given,
                   yaml::Parse(absl::StrReplaceAll(text, {{"$NS", story.id}})));
  RETURN_IF_ERROR(
      CheckNames(given, {"resource", "template", "policy", "reports", "phases"}, "the story"));
  const json::Value& resource = given["resource"];
  RETURN_IF_ERROR(CheckNames(resource, {"plural", "namespaced", "status"}, "resource"));
  story.plural = resource["plural"].ToString();
  story.namespaced = resource["namespaced"].AsBool(true);
  story.status_subresource = resource["status"].AsBool(true);
  ParseTemplates(given["template"], story);
  story.policy = given["policy"];
  for (const json::Value& part : given["reports"].items()) story.reports.push_back(part.ToString());
  for (const json::Value& one : given["phases"].items()) {
    ASSIGN_OR_RETURN(Phase phase, ParsePhase(one));
    story.phases.push_back(std::move(phase));
  }
  if (story.phases.empty()) return absl::InvalidArgumentError("the story has no phases");
  return story;
}

}  // namespace

bool Story::MayBe(const std::string& health) const {
  return std::any_of(phases.begin(), phases.end(), [&](const Phase& phase) {
    return phase.meanwhile.count(health) > 0 ||
           std::any_of(phase.health.begin(), phase.health.end(),
                       [&](const auto& one) { return one.second == health; });
  });
}

absl::StatusOr<Story> ParseStory(const std::string& file, const std::string& text) {
  absl::StatusOr<Story> story = Parse(file, text);
  if (!story.ok()) return base::Annotate(story.status(), file);
  return story;
}

absl::StatusOr<std::vector<Story>> LoadStories(const std::string& directory,
                                               const std::string& filter) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string file = std::filesystem::relative(entry.path(), directory).string();
    if (absl::EndsWith(file, ".yaml") && absl::StrContains(file, filter)) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  std::vector<Story> stories;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text,
                     base::ReadFile(std::filesystem::path(directory) / file));
    ASSIGN_OR_RETURN(Story story, ParseStory(file, text));
    stories.push_back(std::move(story));
  }
  return stories;
}

}  // namespace tests
