#include "api/leadership.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace api {
namespace {

constexpr absl::Duration kClockSkew = absl::Seconds(20);

absl::Duration DurationOf(const kube::Object& lease) {
  return absl::Seconds(lease.spec()["leaseDurationSeconds"].AsInt(15));
}

}  // namespace

std::string WhyNobodyLeads(const kube::Object& lease, absl::Time now) {
  const std::string renewed = lease.spec()["renewTime"].ToString();
  const absl::StatusOr<absl::Time> time = kube::ParseTime(renewed);
  if (!time.ok()) return "";
  if (now < *time + DurationOf(lease) + kClockSkew) return "";
  return absl::StrCat("its lease was last renewed at ", renewed);
}

std::string RunOutFor(const kube::Object& lease, absl::Time now) {
  const auto time = kube::ParseTime(lease.spec()["renewTime"].AsString());
  if (!time.ok() || now <= *time + DurationOf(lease)) return "";
  return absl::StrCat(absl::ToInt64Seconds(now - *time), " s");
}

}  // namespace api
