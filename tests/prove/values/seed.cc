#include "tests/prove/values/seed.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"
#include "sandbox/manifests.h"

namespace prove {
namespace {

// The schema of the version that the object has.
absl::StatusOr<json::Value> SchemaOf(const std::string& file, const json::Value& object) {
  ASSIGN_OR_RETURN(const std::string directory, sandbox::FindManifests({"", "crds", ""}));
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(absl::StrCat(directory, "/", file)));
  ASSIGN_OR_RETURN(const json::Value definition, yaml::Parse(text));
  const json::Value& spec = definition["spec"];
  for (const json::Value& version : spec["versions"].items()) {
    const std::string group_version =
        absl::StrCat(spec["group"].AsString(), "/", version["name"].AsString());
    if (object["apiVersion"].AsString() == group_version) {
      return version["schema"]["openAPIV3Schema"];
    }
  }
  return absl::NotFoundError(absl::StrCat(file, " does not have the object's version"));
}

std::vector<std::string> Strings(const json::Value& list) {
  std::vector<std::string> texts;
  for (const json::Value& item : list.items()) texts.push_back(item.ToString());
  return texts;
}

std::vector<Action> Applied(const json::Value& entries) {
  std::vector<Action> actions;
  for (const json::Value& entry : entries.items()) {
    // Either an object of the control plane, or {on: CLUSTER, object: ...}.
    const bool elsewhere = entry.Has("object");
    actions.push_back({.kind = Action::Kind::kApply,
                       .cluster = elsewhere ? entry["cluster"].ToString() : "host",
                       .object = elsewhere ? entry["object"] : entry});
  }
  return actions;
}

}  // namespace

absl::StatusOr<Seed> ReadSeed(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  const absl::StatusOr<json::Value> parsed = yaml::Parse(text);
  RETURN_IF_ERROR(base::Annotate(parsed.status(), path));
  const json::Value& content = *parsed;
  Seed seed;
  seed.name = std::filesystem::path(path).stem();
  seed.flags = Strings(content["flags"]);
  seed.around = Applied(content["around"]);
  seed.joined = content["joined"].AsBool();
  seed.late = content["late"].AsBool();
  Subject& subject = seed.subject;
  subject.object = content["object"];
  subject.samples = content["samples"];
  subject.values = content["values"];
  subject.together = content["together"];
  subject.within = Strings(content["within"]);
  subject.schema = content["schema"];
  if (subject.schema.is_string()) {
    absl::StatusOr<json::Value> schema = SchemaOf(subject.schema.ToString(), subject.object);
    RETURN_IF_ERROR(base::Annotate(schema.status(), path));
    subject.schema = *std::move(schema);
  }
  return seed;
}

}  // namespace prove
