// Upstream's gates are those of all of kube-apiserver's library; two of them switch something that
// this program has, too. As there, AllAlpha and AllBeta count for a gate that is not named itself,
// by what the gate is in the emulated version. Names of other gates are accepted, whichever release
// has them, and are answered by a warning.

#include "cmd/search/kubernetes_gates.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cmd {
namespace {

constexpr char kConstrainedImpersonation[] = "ConstrainedImpersonation";
constexpr char kComponentStatusz[] = "ComponentStatusz";
constexpr char kAllAlpha[] = "AllAlpha";
constexpr char kAllBeta[] = "AllBeta";
// The version in which both gates are beta.
constexpr int kBetaMinor = 36;
constexpr int kOldestMinor = 32, kNewestMinor = 36;

bool HasEffect(absl::string_view gate) {
  return gate == kConstrainedImpersonation || gate == kComponentStatusz || gate == kAllAlpha ||
         gate == kAllBeta;
}

}  // namespace

int KubernetesMinorOf(config::Release release) {
  return release == config::Release::kV1_18 ? 35 : 36;
}

absl::Status KubernetesGates::SetGates(absl::string_view text) {
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    absl::string_view name = absl::StripAsciiWhitespace(pair.first);
    absl::ConsumePrefix(&name, "kube:");
    bool on = false;
    if (name.empty() || !absl::SimpleAtob(absl::StripAsciiWhitespace(pair.second), &on)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", entry, "\" is not of the form Name=true or Name=false"));
    }
    given_[std::string(name)] = on;
  }
  return absl::OkStatus();
}

absl::Status KubernetesGates::SetVersion(absl::string_view text) {
  absl::string_view version = text;
  absl::ConsumePrefix(&version, "kube=");
  int minor = 0;
  const bool is_minor = absl::ConsumePrefix(&version, "1.") && absl::SimpleAtoi(version, &minor);
  if (!is_minor || minor < kOldestMinor || minor > kNewestMinor) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not between 1.", kOldestMinor, " and 1.", kNewestMinor));
  }
  minor_ = minor;
  version_text_ = std::string(text);
  return absl::OkStatus();
}

bool KubernetesGates::Enabled(absl::string_view gate, config::Release release) const {
  if (const auto found = given_.find(gate); found != given_.end()) return found->second;
  const int library = KubernetesMinorOf(release);
  const bool is_beta = (minor_ == 0 ? library : std::min(minor_, library)) >= kBetaMinor;
  const auto all = given_.find(is_beta ? kAllBeta : kAllAlpha);
  return all == given_.end() ? is_beta : all->second;
}

bool KubernetesGates::ConstrainedImpersonation(config::Release release) const {
  return Enabled(kConstrainedImpersonation, release);
}

bool KubernetesGates::ComponentStatusz(config::Release release) const {
  return Enabled(kComponentStatusz, release);
}

std::vector<std::string> KubernetesGates::Warnings() const {
  std::vector<std::string> out, others;
  for (const auto& [name, on] : given_) {
    if (!HasEffect(name)) others.push_back(absl::StrCat(name, "=", on ? "true" : "false"));
  }
  if (!others.empty()) {
    out.push_back(absl::StrCat("--feature-gates=", absl::StrJoin(others, ","),
                               " has no effect: of the gates of kube-apiserver's library only ",
                               kConstrainedImpersonation, " and ", kComponentStatusz,
                               " switch what is here"));
  }
  if (!version_text_.empty()) {
    out.push_back(absl::StrCat("--emulated-version=", version_text_, " decides about the gates ",
                               kConstrainedImpersonation, " and ", kComponentStatusz,
                               ", and about nothing else"));
  }
  return out;
}

void AddKubernetesGates(CLI::App& app, KubernetesGates& target) {
  const auto add = [&app](const char* flag,
                          const std::function<absl::Status(const std::string& text)>& set,
                          const std::string& help, const char* type) {
    app.add_option_function<std::vector<std::string>>(
           flag,
           [flag, set](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) {
               const absl::Status done = text.empty() ? absl::OkStatus() : set(text);
               if (!done.ok()) throw CLI::ValidationError(flag, std::string(done.message()));
             }
           },
           help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(type);
  };
  add(
      "--feature-gates", [&target](const std::string& text) { return target.SetGates(text); },
      absl::StrCat("Name=true|false pairs: ", kConstrainedImpersonation, " and ", kComponentStatusz,
                   ", both on as Karmada v1.19 and off as v1.18; the others have no effect"),
      "PAIRS");
  add(
      "--emulated-version", [&target](const std::string& text) { return target.SetVersion(text); },
      "version of Kubernetes whose defaults these gates have; default: that of the emulated "
      "release's library, 1.35 or 1.36",
      "VERSION");
}

}  // namespace cmd
