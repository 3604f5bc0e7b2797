// What a shadow says at its end: whether it would write anything that the leader does not, and what
// could not be found out.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_REPORT_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_REPORT_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/shadow/shadow.h"

namespace cmd {

struct ShadowResult {
  // kSame: the shadow would write nothing but mends, and what fails or is refused with it is shown
  // to fail with the leader. kDifferent: it would, or something fails with it alone. kUndecided:
  // there is no round yet, or writes wait for one or for an answer.
  enum class Verdict { kSame, kDifferent, kUndecided } verdict = Verdict::kUndecided;
  // Sentences: first what speaks against kSame, then what is worth knowing.
  std::vector<std::string> because;
};

// What a comparison with the leader leaves out.
struct Uncompared {
  // The clusters whose objects cannot be compared, in their order, each with the reason.
  std::map<std::string, std::string> clusters;
  // Why there is no leader to compare with, or why that is not known; "" while somebody leads.
  std::string leader;
};
// Adds sentences about it to the end of `result.because`. The verdict stays: nothing speaks against
// what was compared.
void AddUncompared(const Uncompared& uncompared, ShadowResult& result);
// Returns what a Lease that was asked for shows, for Uncompared::leader.
std::string LeaderMissing(const absl::StatusOr<kube::Object>& lease, const std::string& name,
                          absl::Time now);

// The exit codes of the verdicts.
inline constexpr int kShadowSame = 0, kShadowDifferent = 3, kShadowUndecided = 4;
int ExitCodeOf(ShadowResult::Verdict verdict);
absl::string_view NameOf(ShadowResult::Verdict verdict);  // "same", "different", "undecided"

// `is_down` returns whether the control plane shows that a cluster does not answer the leader
// either: writes there that have no answer do not make it wait. With `is_over` the shadow waits no
// longer: what differs counts, although other things are not known.
ShadowResult ResultOf(const kube::Shadow::Numbers& numbers, const kube::Shadow::Failing& failing,
                      const std::function<bool(const std::string& cluster)>& is_down,
                      bool is_over = false);

// Returns the result of a shadow that was stopped while `result` was what it knew: kUndecided.
ShadowResult Stopped(ShadowResult result);

// Returns the report: {"verdict": ..., "because": [...], and the fields of `page`}.
std::string ReportText(const ShadowResult& result, const json::Value& page);

// Returns the report of a shadow that has not ended by itself, for whatever reason.
std::string FirstReport();

// Puts FirstReport() into the file in place of a report of before, so that whatever ends the
// program, no older verdict is taken for its own; "" and "-" need nothing. kInvalidArgument names
// the file that cannot be written.
absl::Status BeginReport(const std::string& file);
// Writes the text to the file in place of its contents, or to standard output for "-". The file is
// created if it is missing; only its owner may read it, also if others could before. kUnavailable
// names the file that cannot be written.
absl::Status WriteReport(const std::string& file, const std::string& text);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_REPORT_H_
