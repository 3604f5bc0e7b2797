#include "api/leadership.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace api {
namespace {

constexpr absl::Duration kClockSkew = absl::Seconds(20);

}  // namespace

std::string WhyNobodyLeads(const kube::Object& lease, absl::Time now) {
  const std::string renewed = lease.spec()["renewTime"].ToString();
  const absl::StatusOr<absl::Time> time = kube::ParseTime(renewed);
  if (!time.ok()) return "";
  const auto duration = absl::Seconds(lease.spec()["leaseDurationSeconds"].AsInt(15));
  if (now < *time + duration + kClockSkew) return "";
  return absl::StrCat("its lease was last renewed at ", renewed);
}

}  // namespace api
