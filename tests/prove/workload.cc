#include "tests/prove/workload.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "base/yaml.h"
#include "sandbox/api_server.h"
#include "tests/prove/hook_server.h"

namespace prove {
namespace {

constexpr char kHost[] = "host";
constexpr char kWebhookUrl[] = "{{url}}";

std::string WithWebhook(const std::string& text) {
  const HookIdentity& hook = IdentityOfHook();
  return absl::StrReplaceAll(
      text, {{kWebhookUrl, hook.url}, {"{{caBundle}}", absl::Base64Escape(hook.ca_pem)}});
}

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

void ReadFleetVerb(const json::Value& step, const char* verb, Action::Kind kind,
                   std::vector<Action>& actions) {
  for (const json::Value& name : Each(step[verb])) {
    actions.push_back({.kind = kind, .cluster = name.ToString()});
  }
}

// Namespaces first, as whoever applies a folder does.
std::vector<json::Value> NamespacesFirst(std::vector<json::Value> objects) {
  std::stable_partition(objects.begin(), objects.end(), [](const json::Value& object) {
    return object["kind"].AsString() == "Namespace";
  });
  return objects;
}

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
  const std::vector<std::string> clusters = Clusters(source);
  std::vector<Action>& actions = step.actions;
  ReadFleetVerb(source, "heal", Action::Kind::kHeal, actions);
  for (const std::string& cluster : clusters) {
    for (const json::Value& object : NamespacesFirst(Each(source["apply"]))) {
      actions.push_back({.kind = Action::Kind::kApply, .cluster = cluster, .object = object});
    }
  }
  for (const std::string& cluster : clusters) {
    for (const json::Value& target : Each(source["delete"])) {
      actions.push_back(
          {.kind = Action::Kind::kDelete, .cluster = cluster, .target = target.ToString()});
    }
    for (const json::Value& patch : Each(source["patch"])) {
      actions.push_back({.kind = Action::Kind::kPatch,
                         .cluster = cluster,
                         .target = patch["target"].ToString(),
                         .patch = patch.Has("json") ? patch["json"] : patch["merge"],
                         .subresource = patch["subresource"].ToString()});
    }
  }
  ReadFleetVerb(source, "unjoin", Action::Kind::kUnjoin, actions);
  ReadFleetVerb(source, "join", Action::Kind::kJoin, actions);
  ReadFleetVerb(source, "partition", Action::Kind::kPartition, actions);
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
    const std::string wanted =
        parts[0] == "crd" ? "customresourcedefinition" : absl::AsciiStrToLower(parts[0]);
    // The singular of a defined kind is not always its kind.
    if (kind == wanted || resource.plural == wanted || resource.plural == wanted + "s") {
      return Target{resource.gvr(), {parts[1], parts[2]}};
    }
  }
  return absl::NotFoundError(absl::StrCat("no kind ", parts[0]));
}

absl::Status Patch(sandbox::Backend& backend, const Action& action) {
  ASSIGN_OR_RETURN(const Target target, Resolve(backend, action.target));
  sandbox::PatchRequest request{
      .patch = action.patch, .subresource = action.subresource, .field_manager = "user"};
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

json::Value Replaced(const json::Value& value, absl::string_view before, absl::string_view after) {
  if (value.is_string()) return value.AsString() == before ? json::Value(after) : value;
  json::Value replaced = value;
  for (size_t i = 0; i < value.items().size(); ++i) {
    replaced.MutableAt(i) = Replaced(value.At(i), before, after);
  }
  for (const json::Member& m : value.members()) {
    replaced.Set(m.name(), Replaced(m.value, before, after));
  }
  return replaced;
}

// Whether what is created on this thread is the user's, and not a simulated controller's.
thread_local bool user_acts = false;

// Returns an identity that depends on nothing but the object and how often it was created.
std::string UidOf(const std::string& name, int times) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a.
  for (const char c : absl::StrCat(name, " ", times)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return absl::StrFormat("%08x-0000-4000-8000-%012x", static_cast<uint32_t>(hash >> 32),
                         hash & 0xffffffffffff);
}

// Returns why the object is not as it should be; "" if it is.
std::string Mismatch(const std::string& path, const json::Value& wanted, const json::Value& found) {
  if (!wanted.is_object()) {
    if (wanted == found) return "";
    return absl::StrCat(path, ": ", json::Write(found), " instead of ", json::Write(wanted));
  }
  for (const json::Member& m : wanted.members()) {
    std::string why = Mismatch(absl::StrCat(path, ".", m.name()), m.value, found[m.name()]);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace

absl::StatusOr<Workload> ReadWorkload(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  const bool has_webhook = absl::StrContains(text, kWebhookUrl);
  const absl::StatusOr<json::Value> parsed = yaml::Parse(has_webhook ? WithWebhook(text) : text);
  RETURN_IF_ERROR(base::Annotate(parsed.status(), path));
  const json::Value& content = *parsed;
  Workload workload;
  workload.name = std::filesystem::path(path).stem();
  for (const json::Value& flag : Each(content["flags"])) {
    workload.flags.push_back(flag.ToString());
  }
  workload.end = content["end"];
  workload.has_webhook = has_webhook;
  if (content.Has("quiet")) workload.quiet = absl::Seconds(content["quiet"].AsDouble());
  for (const json::Value& source : Each(content.is_array() ? content : content["steps"])) {
    absl::StatusOr<Step> step = ReadStep(source);
    RETURN_IF_ERROR(base::Annotate(step.status(), path));
    workload.steps.push_back(*std::move(step));
  }
  return workload;
}

User::User(sandbox::Fleet& fleet) : fleet_(fleet) {
  auto created = std::make_shared<std::map<std::string, int>>();  // How often, by object.
  fleet.control_plane().backend().AddAdmission(
      [created](const sandbox::AdmissionRequest& request, kube::Object& object) {
        // The labels of a Job's pods have its uid already.
        if (user_acts && request.verb == sandbox::Verbs::kCreate && object.kind() != "Job") {
          const std::string name = object.Describe();
          const std::string before(object.uid());
          // A Job has it in its labels, too.
          object = kube::Object(Replaced(object.root(), before, UidOf(name, ++(*created)[name])));
        }
        return absl::OkStatus();
      });
}

json::Value MergePatch(const json::Value& before, const json::Value& wanted) {
  if (!before.is_object() || !wanted.is_object()) return wanted;
  json::Value patch = wanted;
  for (const json::Member& m : before.members()) {
    const json::Value* kept = wanted.Find(m.name());
    patch.Set(m.name(), kept == nullptr ? json::Value() : MergePatch(m.value, *kept));
  }
  return patch;
}

absl::Status User::Perform(const Action& action) {
  std::string what = action.target;
  if (action.kind == Action::Kind::kApply) what = kube::Object(action.object).Describe();
  user_acts = true;
  const absl::Status done = Do(action);
  user_acts = false;
  return base::Annotate(done, action.cluster, ": ", what);
}

absl::Status User::Apply(const std::string& cluster, sandbox::Backend& backend,
                         const json::Value& manifest) {
  const kube::Object object(manifest);
  const kube::Resource resource = backend.Find(object.gvk());
  if (resource.plural.empty()) return absl::NotFoundError(absl::StrCat("kind ", object.kind()));
  json::Value& before = applied_[absl::StrCat(cluster, " ", object.Describe())];
  const json::Value patch = MergePatch(before, manifest);
  before = manifest;
  const absl::Status created = backend.Create(resource.gvr(), object).status();
  if (!absl::IsAlreadyExists(created)) return created;
  return backend.Patch(resource.gvr(), object.key(), {.patch = patch, .field_manager = "user"})
      .status();
}

absl::Status User::Do(const Action& action) {
  sandbox::ApiServer* server = ServerOf(fleet_, action.cluster);
  if (server == nullptr) return absl::NotFoundError(absl::StrCat("cluster ", action.cluster));
  switch (action.kind) {
    case Action::Kind::kApply:
      return Apply(action.cluster, server->backend(), action.object);
    case Action::Kind::kPatch:
      return Patch(server->backend(), action);
    case Action::Kind::kDelete:
      return Delete(server->backend(), action);
    case Action::Kind::kPartition:
    case Action::Kind::kHeal:
      server->faults().SetPartitioned(action.kind == Action::Kind::kPartition);
      return absl::OkStatus();
    case Action::Kind::kUnjoin:
      return Unjoin(fleet_, action.cluster);
    case Action::Kind::kJoin:
      return fleet_.JoinAgain(action.cluster);
  }
  return absl::InternalError("unknown action");
}

std::vector<std::string> User::Missing(const json::Value& end) {
  std::vector<std::string> lines;
  for (const json::Member& m : end.members()) {
    const std::vector<std::string> words = absl::StrSplit(m.name(), ' ');
    sandbox::ApiServer* server = words.size() == 2 ? ServerOf(fleet_, words[0]) : nullptr;
    const auto target = server == nullptr
                            ? absl::InvalidArgumentError(absl::StrCat("end: ", m.name()))
                            : Resolve(server->backend(), words[1]);
    const absl::StatusOr<kube::ObjectPtr> object =
        target.ok() ? server->backend().Get(target->gvr, target->key)
                    : absl::StatusOr<kube::ObjectPtr>(target.status());
    std::string why;
    if (m.value.is_null()) {
      if (object.ok()) why = "it is still there";
    } else if (!object.ok()) {
      why = std::string(object.status().message());
    } else {
      why = Mismatch("", m.value, (*object)->root());
    }
    if (!why.empty()) lines.push_back(absl::StrCat(m.name(), ": ", why));
  }
  return lines;
}

}  // namespace prove
