// Reads configurations of webhooks from files and makes a layer of them. All files are read before
// any rule is resolved, because rules by resource ("widgets") need the CustomResourceDefinitions,
// which may stand in a later file. A hook behind a Service is refused, since only a control plane
// can find it. The layer calls real servers; its circuit breaker never opens, so that the answer to
// a question does not depend on the questions before it.

#include "cmd/interpret/webhooks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/webhook/configuration.h"
#include "interpreter/webhook/explanation.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/resource_info.h"

namespace cmd::interpret {
namespace {

using interpreter::webhook::Configuration;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::HookSet;
using interpreter::webhook::KindPattern;
using interpreter::webhook::Rule;

// How kinds are served when no server can be asked, for rules that name resources and scopes: the
// kinds of Kubernetes itself, and those of added definitions.
class ServedKinds {
 public:
  ServedKinds() {
    for (const sandbox::ResourceInfo& info : sandbox::BuiltinResources()) Add(info);
  }

  // Returns whether the object is a CustomResourceDefinition.
  static bool IsDefinition(const kube::Object& object) {
    return object.gvk() == kube::Gvk{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  }
  // Adds every served version that it defines. REQUIRES: IsDefinition(definition).
  void Add(const kube::Object& definition) {
    for (const sandbox::ResourceInfo& info : sandbox::ServedBy(definition)) Add(info);
  }

  // Returns nullopt for an unknown kind.
  std::optional<kube::Resource> Find(const kube::Gvk& gvk) const {
    const auto found = all_.find(gvk);
    if (found == all_.end()) return std::nullopt;
    return found->second;
  }
  const std::map<kube::Gvk, kube::Resource>& all() const { return all_; }

 private:
  void Add(const sandbox::ResourceInfo& info) { all_[info.resource.gvk] = info.resource; }

  std::map<kube::Gvk, kube::Resource> all_;
};

bool IsConfiguration(const kube::Object& object) {
  return object.gvk() == api::InterpreterWebhookConfigurations().gvk ||
         object.gvk() == api::ExploringWebhookConfigurations().gvk;
}

std::string NameOf(const Hook& hook) { return hook.uid.substr(hook.configuration.size() + 1); }

// Returns whether the pattern applies however a kind is served.
bool IsOpen(const KindPattern& pattern, const std::string& group, const std::string& version) {
  // Without a lookup only patterns match that need none.
  return pattern.Matches({group, version, "*"}, nullptr);
}

// Returns the kinds that a pattern names, in the form of Webhooks::kinds.
std::set<kube::Gvk> KindsOf(const KindPattern& pattern, const ServedKinds& served) {
  std::set<kube::Gvk> kinds;
  const auto lookup = [&](const kube::Gvk& gvk) { return served.Find(gvk); };
  for (const std::string& group : pattern.groups) {
    for (const std::string& version : pattern.versions) {
      if (pattern.kinds.empty() && IsOpen(pattern, group, version)) {
        kinds.insert({group, version, "*"});
      }
      for (const std::string& kind : pattern.kinds) kinds.insert({group, version, kind});
    }
  }
  // What remains are rules by resource, which are looked up among the kinds that are known.
  if (!pattern.kinds.empty() || !kinds.empty()) return kinds;
  for (const auto& [gvk, resource] : served.all()) {
    if (pattern.Matches(gvk, lookup)) kinds.insert(gvk);
  }
  return kinds;
}

// Collects the configurations in files.
class Reading {
 public:
  absl::Status Add(const tool::Document& document);
  Webhooks Finish();

 private:
  // A hook and a description of its place.
  struct Placed {
    Hook hook;
    std::string where;
  };

  absl::Status AddConfiguration(const tool::Document& document, const kube::Object& object);
  void NoteKinds(const Placed& placed);

  std::map<std::string, std::string> files_;  // By the object's kind and name.
  std::vector<Placed> placed_;
  ServedKinds served_;
  Webhooks webhooks_;
};

absl::Status Reading::Add(const tool::Document& document) {
  const kube::Object object(document.value);
  if (ServedKinds::IsDefinition(object)) {
    served_.Add(object);
    return absl::OkStatus();
  }
  if (IsConfiguration(object)) return AddConfiguration(document, object);
  return absl::InvalidArgumentError(absl::StrCat(
      document.Where(), ": not a configuration of webhooks, got ", object.gvk().ToString()));
}

absl::Status Reading::AddConfiguration(const tool::Document& document, const kube::Object& object) {
  const std::string what = absl::StrCat(object.kind(), " \"", object.name(), "\"");
  // An API server has one object of a kind and name; the second one would replace the first.
  const auto [known, added] = files_.emplace(what, document.Where());
  if (!added) {
    return absl::InvalidArgumentError(
        absl::StrCat(document.Where(), ": ", what, " is given twice, first in ", known->second));
  }
  const std::string where = absl::StrCat(document.Where(), ": ", what);
  Configuration read = interpreter::webhook::ReadConfiguration(object);
  for (const std::string& problem : read.problems) {
    webhooks_.problems.push_back(absl::StrCat(where, ": ", problem));
  }
  for (Hook& hook : read.hooks) {
    if (hook.client.service.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": webhook \"", NameOf(hook), "\": the service ",
                       hook.client.service->ns, "/", hook.client.service->name,
                       " can be reached in a control plane only; give clientConfig a url"));
    }
    placed_.push_back({std::move(hook), where});
  }
  return absl::OkStatus();
}

void Reading::NoteKinds(const Placed& placed) {
  for (const Rule& rule : placed.hook.rules) {
    const std::set<kube::Gvk> kinds = KindsOf(rule.kinds, served_);
    webhooks_.kinds.insert(kinds.begin(), kinds.end());
    if (!kinds.empty()) continue;
    webhooks_.problems.push_back(
        absl::StrCat(placed.where, ": webhook \"", NameOf(placed.hook), "\": no kind is known for ",
                     interpreter::webhook::KindPatternText(rule.kinds),
                     "; give the CustomResourceDefinition with --webhook, too"));
  }
}

Webhooks Reading::Finish() {
  std::vector<Hook> hooks;
  for (Placed& placed : placed_) {
    NoteKinds(placed);
    hooks.push_back(std::move(placed.hook));
  }
  webhooks_.hooks = std::make_shared<const HookSet>(
      std::move(hooks),
      [served = std::move(served_)](const kube::Gvk& gvk) { return served.Find(gvk); });
  return std::move(webhooks_);
}

}  // namespace

absl::StatusOr<Webhooks> ReadWebhooks(const std::vector<std::string>& arguments, bool recursive,
                                      ObjectSource& source) {
  const ObjectSource::Wanted wanted = {
      "configurations of webhooks", [](const kube::Object& object) {
        return IsConfiguration(object) || ServedKinds::IsDefinition(object);
      }};
  Reading reading;
  for (const std::string& argument : arguments) {
    ASSIGN_OR_RETURN(const std::vector<tool::Document> documents,
                     source.Matching(argument, recursive, wanted));
    for (const tool::Document& document : documents) RETURN_IF_ERROR(reading.Add(document));
  }
  return reading.Finish();
}

std::unique_ptr<interpreter::Backend> NewWebhookLayer(const Webhooks& webhooks,
                                                      interpreter::webhook::CallObserver on_call) {
  interpreter::webhook::WebhookBackendOptions options;
  options.monitor.breaker.failures_to_open = std::numeric_limits<int>::max();
  options.monitor.on_call = std::move(on_call);
  auto layer = std::make_unique<interpreter::webhook::WebhookBackend>(std::move(options));
  layer->Replace(webhooks.hooks);
  return layer;
}

}  // namespace cmd::interpret
