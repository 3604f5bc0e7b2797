#include "kube/meta/nearest_kind.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/spelling.h"

namespace kube {
namespace {

using Filter = std::function<bool(const Gvk&)>;

// Returns, of the kinds that the filter lets through, the one whose `text` is nearest to that of
// `wanted`.
std::optional<Gvk> Nearest(const Gvk& wanted, const std::set<Gvk>& served, const Filter& filter,
                           std::string (*text)(const Gvk&)) {
  std::vector<Gvk> kinds;
  std::vector<std::string> texts;
  for (const Gvk& gvk : served) {
    if (!filter(gvk)) continue;
    kinds.push_back(gvk);
    texts.push_back(text(gvk));
  }
  const std::optional<size_t> nearest = base::NearestName(text(wanted), texts);
  if (!nearest.has_value()) return std::nullopt;
  return kinds[*nearest];
}

std::string KindOf(const Gvk& gvk) { return gvk.kind; }
std::string ApiVersionOf(const Gvk& gvk) { return gvk.ApiVersion(); }

// Returns a served kind of the same name in another group or version. When no apiVersion is
// similar, the core group's kind is preferred.
std::optional<Gvk> OfTheSameName(const Gvk& wanted, const std::set<Gvk>& served) {
  const auto same = [&](const Gvk& gvk) { return absl::EqualsIgnoreCase(gvk.kind, wanted.kind); };
  const std::optional<Gvk> nearest = Nearest(wanted, served, same, ApiVersionOf);
  if (nearest.has_value()) return nearest;
  for (const Gvk& gvk : served) {
    if (same(gvk)) return gvk;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Gvk> NearestKind(const Gvk& wanted, const std::set<Gvk>& served) {
  if (const auto same = OfTheSameName(wanted, served)) return same;
  const auto same_group = [&](const Gvk& gvk) { return gvk.group == wanted.group; };
  if (const auto similar = Nearest(wanted, served, same_group, KindOf)) return similar;
  return Nearest(
      wanted, served, [](const Gvk&) { return true; }, KindOf);
}

}  // namespace kube
