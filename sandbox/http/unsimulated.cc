#include "sandbox/http/unsimulated.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

struct Unsimulated {
  absl::string_view group, resource, subresource;
  absl::string_view object;  // The word for the object in messages.
  absl::string_view what;    // What cannot be done with it.
  absl::string_view why;
};

constexpr absl::string_view kNoContainers =
    "karmada-sandbox simulates pods, it does not run containers";
constexpr absl::string_view kNoTokens =
    "karmada-sandbox issues no tokens, clients use the certificates of its kubeconfigs";

constexpr Unsimulated kUnsimulated[] = {
    {"", "pods", "exec", "pod", "cannot run a command", kNoContainers},
    {"", "pods", "attach", "pod", "cannot be attached to", kNoContainers},
    {"", "pods", "portforward", "pod", "cannot forward a port", kNoContainers},
    {"", "pods", "proxy", "pod", "cannot be reached", kNoContainers},
    {"", "pods", "ephemeralcontainers", "pod", "cannot be debugged", kNoContainers},
    {"", "pods", "eviction", "pod", "cannot be evicted",
     "karmada-sandbox does not enforce disruption budgets; delete the pod instead"},
    {"", "services", "proxy", "service", "cannot be reached", kNoContainers},
    {"", "nodes", "proxy", "node", "cannot be reached", kNoContainers},
    {"", "serviceaccounts", "token", "service account", "cannot get a token", kNoTokens},
};

bool HasContainer(const kube::Object& pod, absl::string_view name) {
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const json::Value& container : pod.spec()[list].items()) {
      if (container["name"].AsString() == name) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> SimulatedLog(const kube::Object& pod, absl::string_view container) {
  const absl::string_view name =
      container.empty() ? pod.spec()["containers"].At(0)["name"].AsString() : container;
  if (!HasContainer(pod, name)) {
    return BadRequest(absl::StrCat("container ", name, " is not valid for pod ", pod.name()));
  }
  return absl::StrCat("This is not a log of the container ", name, " of pod ", pod.key().ToString(),
                      ": ", kNoContainers, ".\n");
}

absl::Status RefuseUnsimulated(const kube::Gvr& gvr, const std::string& subresource,
                               const std::string& name) {
  const auto* found = std::find_if(
      std::begin(kUnsimulated), std::end(kUnsimulated), [&](const Unsimulated& candidate) {
        return candidate.subresource == subresource && candidate.resource == gvr.resource &&
               candidate.group == gvr.group;
      });
  if (found == std::end(kUnsimulated)) return absl::OkStatus();
  return NotImplemented(
      absl::StrCat(found->object, " \"", name, "\" ", found->what, ": ", found->why));
}

}  // namespace sandbox
