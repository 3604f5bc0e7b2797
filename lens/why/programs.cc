// Finds out from leases whether Karmada's programs run.
#include <string>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "lens/why/checks.h"

namespace lens::why {
namespace {

// Clocks of this machine and of the control plane may differ by as much.
constexpr absl::Duration kClockSkew = absl::Seconds(20);

const char* LeaseOf(Program program) {
  switch (program) {
    case Program::kControllerManager:
      return "karmada-controller-manager";
    case Program::kScheduler:
      return "karmada-scheduler";
    default:
      return "";
  }
}

// Returns how the lease shows that nobody renews it; "" when somebody does, or it cannot be told.
std::string Abandoned(const kube::Object& lease, absl::Time now) {
  const std::string renewed = lease.spec()["renewTime"].ToString();
  const absl::StatusOr<absl::Time> time = kube::ParseTime(renewed);
  if (!time.ok()) return "";
  const auto duration = absl::Seconds(lease.spec()["leaseDurationSeconds"].AsInt(15));
  if (now < *time + duration + kClockSkew) return "";
  return absl::StrCat("its lease was last renewed at ", renewed);
}

}  // namespace

Findings CheckProgram(const Chain& chain, const Finding& waiting) {
  const std::string name = LeaseOf(waiting.waits_for);
  const auto lease = chain.leases.find(name);
  if (name.empty() || lease == chain.leases.end()) return {};
  const std::string abandoned = Abandoned(*lease->second, chain.now);
  if (abandoned.empty()) return {};
  return {
      {waiting.step,
       Grade::kStuck,
       absl::StrCat(name, " does not run (", abandoned, "): ", waiting.cause),
       absl::StrCat("start ", name, "; if it runs with --leader-elect=false, delete its old Lease"),
       waiting.cluster,
       {},
       waiting.waits_for,
       "program-not-running"}};
}

}  // namespace lens::why
