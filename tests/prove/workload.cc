#include "tests/prove/workload.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"
#include "sandbox/api_server.h"

namespace prove {
namespace {

constexpr char kHost[] = "host";

// An element, or the elements of a list.
std::vector<json::Value> Each(const json::Value& value) {
  if (value.is_null()) return {};
  if (!value.is_array()) return {value};
  const absl::Span<const json::Value> items = value.items();
  return std::vector<json::Value>(items.begin(), items.end());
}

std::vector<std::string> Clusters(const json::Value& step) {
  std::vector<std::string> names;
  for (const json::Value& name : Each(step["on"])) names.push_back(name.ToString());
  if (names.empty()) names.emplace_back(kHost);
  return names;
}

struct FleetVerb {
  const char* name;
  Action::Kind kind;
};
constexpr FleetVerb kFleetVerbs[] = {{"partition", Action::Kind::kPartition},
                                     {"heal", Action::Kind::kHeal},
                                     {"unjoin", Action::Kind::kUnjoin},
                                     {"join", Action::Kind::kJoin}};

absl::StatusOr<Step> ReadStep(const json::Value& source) {
  Step step;
  step.name = source["name"].ToString();
  for (const json::Member& m : source.members()) {
    if (m.name() == "use" || m.name() == "as") {
      return absl::UnimplementedError(
          absl::StrCat("step \"", step.name, "\": ", m.name(), " needs real servers"));
    }
  }
  step.sleep = absl::Seconds(source["sleep"].AsDouble());
  for (const FleetVerb& verb : kFleetVerbs) {
    for (const json::Value& name : Each(source[verb.name])) {
      step.actions.push_back({.kind = verb.kind, .cluster = name.ToString()});
    }
  }
  for (const std::string& cluster : Clusters(source)) {
    for (const json::Value& object : Each(source["apply"])) {
      step.actions.push_back({.kind = Action::Kind::kApply, .cluster = cluster, .object = object});
    }
    for (const json::Value& patch : Each(source["patch"])) {
      const json::Value& change = patch.Has("json") ? patch["json"] : patch["merge"];
      step.actions.push_back({.kind = Action::Kind::kPatch,
                              .cluster = cluster,
                              .target = patch["target"].ToString(),
                              .patch = change,
                              .subresource = patch["subresource"].ToString()});
    }
    for (const json::Value& target : Each(source["delete"])) {
      step.actions.push_back(
          {.kind = Action::Kind::kDelete, .cluster = cluster, .target = target.ToString()});
    }
  }
  return step;
}

sandbox::ApiServer* ServerOf(sandbox::Fleet& fleet, const std::string& cluster) {
  return cluster == kHost ? &fleet.control_plane() : fleet.member(cluster);
}

// What "kind/namespace/name" means on this server.
struct Target {
  kube::Gvr gvr;
  kube::ObjectKey key;
};

absl::StatusOr<Target> Resolve(const sandbox::Backend& backend, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() != 3) return absl::InvalidArgumentError(absl::StrCat("target: ", text));
  for (const kube::Resource& resource : backend.Resources()) {
    const std::string kind = absl::AsciiStrToLower(resource.gvk.kind);
    if (kind == parts[0]) return Target{resource.gvr(), {parts[1], parts[2]}};
  }
  return absl::NotFoundError(absl::StrCat("no kind ", parts[0]));
}

absl::Status Apply(sandbox::Backend& backend, const json::Value& manifest) {
  const kube::Object object(manifest);
  const kube::Resource resource = backend.Find(object.gvk());
  if (resource.plural.empty()) return absl::NotFoundError(absl::StrCat("kind ", object.kind()));
  const absl::Status created = backend.Create(resource.gvr(), object).status();
  if (!absl::IsAlreadyExists(created)) return created;
  return backend
      .Patch(resource.gvr(), object.key(), {.patch = manifest, .field_manager = "user"})
      .status();
}

absl::Status Patch(sandbox::Backend& backend, const Action& action) {
  ASSIGN_OR_RETURN(const Target target, Resolve(backend, action.target));
  sandbox::PatchRequest request{.patch = action.patch,
                                .subresource = action.subresource,
                                .field_manager = "user"};
  if (action.patch.is_array()) request.type = sandbox::PatchRequest::Type::kJson;
  return backend.Patch(target.gvr, target.key, request).status();
}

absl::Status Delete(sandbox::Backend& backend, const Action& action) {
  ASSIGN_OR_RETURN(const Target target, Resolve(backend, action.target));
  const absl::Status deleted =
      backend.Delete(target.gvr, target.key, {.propagation = "Background"}).status();
  return absl::IsNotFound(deleted) ? absl::OkStatus() : deleted;
}

absl::Status Unjoin(sandbox::Fleet& fleet, const std::string& member) {
  return fleet.control_plane()
      .backend()
      .Delete({"cluster.karmada.io", "v1alpha1", "clusters"}, {"", member}, {})
      .status();
}

absl::Status Do(const Action& action, sandbox::Fleet& fleet) {
  sandbox::ApiServer* server = ServerOf(fleet, action.cluster);
  if (server == nullptr) return absl::NotFoundError(absl::StrCat("cluster ", action.cluster));
  switch (action.kind) {
    case Action::Kind::kApply:
      return Apply(server->backend(), action.object);
    case Action::Kind::kPatch:
      return Patch(server->backend(), action);
    case Action::Kind::kDelete:
      return Delete(server->backend(), action);
    case Action::Kind::kPartition:
    case Action::Kind::kHeal:
      server->faults().SetPartitioned(action.kind == Action::Kind::kPartition);
      return absl::OkStatus();
    case Action::Kind::kUnjoin:
      return Unjoin(fleet, action.cluster);
    case Action::Kind::kJoin:
      return fleet.JoinAgain(action.cluster);
  }
  return absl::InternalError("unknown action");
}

}  // namespace

absl::StatusOr<Workload> ReadWorkload(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  const absl::StatusOr<json::Value> parsed = yaml::Parse(text);
  RETURN_IF_ERROR(base::Annotate(parsed.status(), path));
  const json::Value& content = *parsed;
  Workload workload;
  workload.name = std::filesystem::path(path).stem();
  for (const json::Value& flag : Each(content["flags"])) {
    workload.flags.push_back(flag.ToString());
  }
  for (const json::Value& source : Each(content.is_array() ? content : content["steps"])) {
    absl::StatusOr<Step> step = ReadStep(source);
    RETURN_IF_ERROR(base::Annotate(step.status(), path));
    workload.steps.push_back(*std::move(step));
  }
  return workload;
}

absl::Status Perform(const Action& action, sandbox::Fleet& fleet) {
  const std::string what =
      action.target.empty() ? kube::Object(action.object).Describe() : action.target;
  return base::Annotate(Do(action, fleet), action.cluster, ": ", what);
}

}  // namespace prove
