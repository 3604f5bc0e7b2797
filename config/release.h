// The releases of Karmada as which a program can behave. Some of what others see contradicts itself
// between them (the default of a gate, reasons, labels of metrics), so a program behaves as one of
// them at a time: as the one that its control plane is of (config/served), or as a flag says.
#ifndef CONFIG_RELEASE_H_
#define CONFIG_RELEASE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "base/enumerated.h"

namespace CLI {
class App;
}

namespace config {

enum class Release { kV1_18, kV1_19 };  // The order is that of time.

// The texts of --emulated-karmada-version.
inline constexpr auto kReleases =
    base::Enumerate<Release>({{Release::kV1_18, "v1.18"}, {Release::kV1_19, "v1.19"}});
// The versions of upstream with which the behaviour as each release is compared. (v1.19.0 itself,
// which is ten days younger than that commit, was not to be had.)
inline constexpr auto kComparedVersions = base::Enumerate<Release>(
    {{Release::kV1_18, "v1.18.2"}, {Release::kV1_19, "v1.19.0-rc.0 (f8fdd02df)"}});

inline constexpr absl::string_view kReleaseFlag = "--emulated-karmada-version";

// Adds the flag to `app`. `target` must outlive it, and stays nullopt without the flag; `help`
// describes what the release changes.
void AddReleaseFlag(CLI::App& app, std::optional<Release>& target, const std::string& help);

}  // namespace config

#endif  // CONFIG_RELEASE_H_
