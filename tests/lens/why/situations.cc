#include "tests/lens/why/situations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/policy_scope.h"
#include "base/files.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"

namespace tests {
namespace {

constexpr char kDirectory[] = "tests/data/lens";
constexpr char kNow[] = "2026-01-01T12:00:00Z";

std::vector<json::Value> ReadYaml(const std::string& path) {
  auto documents = yaml::ParseAll(base::ReadFile(path).value());
  INFO(path << ": " << documents.status());
  REQUIRE(documents.ok());
  return *documents;
}

using Objects = std::vector<kube::Object>;

void Remove(Objects& objects, absl::string_view kind) {
  objects.erase(std::remove_if(objects.begin(), objects.end(),
                               [&](const kube::Object& object) { return object.kind() == kind; }),
                objects.end());
}

template <class Change>
void ForKind(Objects& objects, absl::string_view kind, Change change) {
  for (kube::Object& object : objects) {
    if (object.kind() == kind) change(object);
  }
}

// Takes away what comes after the step.
void CutAfter(const std::string& step, Objects& objects) {
  const std::vector<std::string> steps = {"template", "claimed", "bound", "scheduled",
                                          "dispatched"};
  const auto found = std::find(steps.begin(), steps.end(), step);
  REQUIRE(found != steps.end());
  const auto at = found - steps.begin();
  if (at <= 3) Remove(objects, "Work");
  if (at <= 2) {
    ForKind(objects, "ResourceBinding", [](kube::Object& binding) {
      binding.Erase({"spec", "clusters"});
      binding.Erase({"status"});
    });
  }
  if (at <= 1) Remove(objects, "ResourceBinding");
  if (at == 0) {
    ForKind(objects, "Deployment",
            [](kube::Object& object) { api::policy_scope::Namespaced::Unclaim(object); });
  }
  if (at == 4) ForKind(objects, "Work", [](kube::Object& work) { work.Erase({"status"}); });
}

void Patch(const json::Value& patches, Objects& objects) {
  for (const json::Member& m : patches.members()) {
    const auto found =
        std::find_if(objects.begin(), objects.end(),
                     [&](const kube::Object& object) { return object.Describe() == m.name(); });
    INFO("patch of " << m.name());
    REQUIRE(found != objects.end());
    if (m.value.is_null()) {
      objects.erase(found);
    } else {
      *found = kube::Object(kube::ApplyMergePatch(found->root(), m.value));
    }
  }
}

lens::why::Question QuestionFrom(const json::Value& ask) {
  lens::why::Question question;
  question.gvk =
      kube::ParseGvk(ask["apiVersion"].AsString("apps/v1"), ask["kind"].AsString("Deployment"))
          .value();
  question.key = {ask["namespace"].ToString("shop"), ask["name"].ToString("web")};
  question.cluster = ask["cluster"].ToString();
  question.skipped_apis = ask["skippedApis"].ToString();
  if (ask.Has("skippedNamespaces"))
    question.skipped_namespaces = {ask["skippedNamespaces"].ToString()};
  return question;
}

// Members hold what their Work says, unless the situation says something else.
void AddMembers(const json::Value& said, lens::why::Chain& chain) {
  for (const auto& [cluster, work] : chain.works) {
    lens::why::MemberAnswer answer;
    if (!work->status().is_null()) {
      answer.object = kube::Share(kube::Object(work->spec()["workload"]["manifests"].At(0)));
    }
    chain.members[cluster] = std::move(answer);
  }
  for (const json::Member& m : said.members()) {
    for (const json::Value& need : m.value["lacks"].items()) {
      chain.lacking[std::string(m.name())].push_back(api::DependentReference::FromJson(need));
    }
    if (m.value.Has("space")) {
      const json::Value& space = m.value["space"];
      chain.spaces[std::string(m.name())].object =
          space.is_null() ? nullptr : kube::Share(kube::Object(space));
    }
    if (m.value.Has("pods")) {
      lens::why::MemberPods& pods = chain.pods[std::string(m.name())];
      const json::Value& shown = m.value["pods"];
      if (shown.is_string()) pods.status = absl::PermissionDeniedError(shown.AsString());
      for (const json::Value& pod : shown.items()) {
        pods.pods.push_back(kube::Share(kube::Object(pod)));
      }
      pods.has_more = m.value["morePods"].AsBool();
    }
    const bool has_answered = m.value.Has("lacks") || m.value.Has("space") || m.value.Has("pods");
    if (has_answered && !m.value.Has("object")) continue;
    lens::why::MemberAnswer& answer = chain.members[std::string(m.name())];
    if (m.value.Has("error")) {
      answer = {absl::FailedPreconditionError(m.value["error"].AsString()), nullptr};
    } else if (m.value.Has("unreachable")) {
      answer = {absl::UnavailableError(m.value["unreachable"].AsString()), nullptr};
    } else if (m.value.Has("unauthorized")) {
      const auto refused = absl::UnauthenticatedError(m.value["unauthorized"].AsString());
      answer = {refused, nullptr, refused};
    } else if (m.value["object"].is_null()) {
      answer.object = nullptr;
    } else {
      const json::Value held = answer.object == nullptr ? json::Value() : answer.object->root();
      answer.object = kube::Share(kube::Object(kube::ApplyMergePatch(held, m.value["object"])));
    }
  }
}

void AddUnread(const json::Value& unread, lens::why::Chain& chain) {
  for (const json::Value& item : unread.items()) {
    const kube::Gvk gvk =
        kube::ParseGvk(item["apiVersion"].AsString(), item["kind"].AsString()).value();
    chain.unread.push_back(absl::StrCat(gvk.kind, " is forbidden"));
    chain.unreadable.push_back({gvk, {item["namespace"].ToString(), item["name"].ToString()}});
  }
}

}  // namespace

std::vector<Situation> ReadSituations() {
  std::vector<Situation> situations;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory)) {
    const std::string file = entry.path().string();
    if (!absl::StartsWith(entry.path().filename().string(), "situations")) continue;
    for (json::Value& document : ReadYaml(file)) situations.push_back({file, std::move(document)});
  }
  return situations;
}

lens::why::Objects ObjectsOf(const Situation& situation) {
  const json::Value& document = situation.document;
  static const auto& base =
      *new std::vector<json::Value>(ReadYaml(absl::StrCat(kDirectory, "/base.yaml")));
  Objects objects(base.begin(), base.end());
  if (document.Has("until")) CutAfter(document["until"].ToString(), objects);
  Patch(document["patch"], objects);
  for (const json::Value& value : document["objects"].items()) objects.emplace_back(value);
  lens::why::Objects shared;
  for (kube::Object& object : objects) shared.push_back(kube::Share(std::move(object)));
  return shared;
}

lens::why::Question QuestionOf(const Situation& situation) {
  return QuestionFrom(situation.document["ask"]);
}

absl::Time TimeOfSituations() { return kube::ParseTime(kNow).value(); }

lens::why::Chain ChainOf(const Situation& situation) {
  const json::Value& document = situation.document;
  auto chain =
      lens::why::MakeChain(QuestionOf(situation), ObjectsOf(situation), TimeOfSituations());
  INFO(chain.status());
  REQUIRE(chain.ok());
  AddMembers(document["members"], *chain);
  AddUnread(document["unread"], *chain);
  for (const json::Value& kind : document["unserved"].items()) {
    chain->unserved.push_back(kind.ToString());
  }
  for (const json::Value& ns : document["elsewhere"].items()) {
    chain->elsewhere.push_back(ns.ToString());
  }
  chain->lost_target = document["lostTarget"].ToString();
  chain->target_is_unbound = document["unbound"].AsBool();
  return *std::move(chain);
}

}  // namespace tests
