#include "lens/why/retained.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/work.h"
#include "lens/why/expected.h"
#include "works/retention.h"

namespace lens::why {
namespace {

constexpr char kProbe[] = "karmadaLensProbe";

// Adds where `has` lacks what `wants` says. Lists of one length are compared item by item, since
// servers add fields to items.
void AddLacks(const json::Value& wants, const json::Value& has, const std::string& path,
              std::vector<std::string>& paths) {
  if (wants.is_object() && has.is_object()) {
    for (const json::Member& m : wants.members()) {
      AddLacks(m.value, has[m.name()], absl::StrCat(path, path.empty() ? "" : ".", m.name()),
               paths);
    }
  } else if (wants.is_array() && has.is_array() && wants.size() == has.size()) {
    for (size_t i = 0; i < wants.size(); ++i) {
      AddLacks(wants.At(i), has.At(i), absl::StrCat(path, "[", i, "]"), paths);
    }
  } else if (wants != has) {
    paths.push_back(path);
  }
}

// Returns the paths, without those of metadata and status.
std::vector<std::string> Lacks(const kube::Object& wants, const kube::Object& has) {
  std::vector<std::string> paths;
  for (const json::Member& m : wants.root().members()) {
    if (m.name() == "metadata" || m.name() == "status") continue;
    AddLacks(m.value, has.root()[m.name()], std::string(m.name()), paths);
  }
  return paths;
}

}  // namespace

Held HeldIn(const Chain& chain, const std::string& cluster) {
  const interpreter::RuleName rule =
      chain.rules->RuleFor(chain.asked.gvk, interpreter::Operation::kRetain);
  const auto work = chain.works.find(cluster);
  const auto member = chain.members.find(cluster);
  const bool is_there = work != chain.works.end() && member != chain.members.end() &&
                        member->second.object != nullptr;
  if (!is_there || rule.layer != interpreter::kCustomizationLayer || !CouldReadRules(chain)) {
    return {};
  }
  const api::WorkView view(*work->second);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  if (!index.has_value()) return {};
  const kube::Object manifest(view.Manifests()[*index]);
  const kube::Object& observed = *member->second.object;
  const interpreter::Interpreter& rules = chain.rules->WithoutWebhooks();
  const absl::StatusOr<kube::Object> retained = works::Retained(manifest, observed, rules);
  if (!retained.ok()) return {};
  // What would be sent is not kept, though it may differ in its form alone.
  const std::vector<std::string> sent = Lacks(*retained, observed);
  Held held{rule.name, Lacks(manifest, observed), ""};
  held.paths.erase(std::remove_if(held.paths.begin(), held.paths.end(),
                                  [&](const std::string& path) {
                                    return std::find(sent.begin(), sent.end(), path) != sent.end();
                                  }),
                   held.paths.end());
  if (held.paths.empty()) return held;
  const std::string part = held.paths[0].substr(0, held.paths[0].find_first_of(".["));
  if (!manifest.root()[part].is_object()) return held;
  kube::Object probe = manifest;
  probe.Set({part, kProbe}, "1");
  const absl::StatusOr<kube::Object> probed = works::Retained(probe, observed, rules);
  if (probed.ok() && !probed->root()[part].Has(kProbe)) held.whole = part;
  return held;
}

}  // namespace lens::why
