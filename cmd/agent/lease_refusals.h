// When Leases are written again whose writes the server refuses.
#ifndef CMD_AGENT_LEASE_REFUSALS_H_
#define CMD_AGENT_LEASE_REFUSALS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/repeated_errors.h"

namespace cmd {

// A server that refuses one write often refuses all of them: a right is missing, a quota is full,
// or it has too much to do. So a refusal holds up all writes, for a second at first and twice as
// long after each further one, until a write succeeds; and its own Lease in the same way, however
// the others fare, so that one Lease that is always refused does not keep the others from theirs.
class LeaseRefusals {
 public:
  static constexpr absl::Duration kFirstPause = absl::Seconds(1);
  static constexpr absl::Duration kLongestPause = absl::Minutes(1);

  // REQUIRES: `clock` outlives the object.
  explicit LeaseRefusals(const base::Clock& clock) : clock_(clock) {}

  // Returns whether any write, or one of this Lease, may be tried now.
  bool MayWrite() const { return clock_.SteadyNow() >= next_; }
  bool MayWrite(const std::string& lease) const;
  // Records what has become of a write, and logs refusals, alike ones seldom. That another process
  // was faster is none.
  void Note(const std::string& lease, const absl::Status& written);

 private:
  struct Refusal {
    absl::Duration pause = kFirstPause;
    base::SteadyTime next;
  };

  void Log(const std::string& lease, const absl::Status& why);

  const base::Clock& clock_;
  absl::Duration pause_ = kFirstPause;
  base::SteadyTime next_ = base::SteadyTime::InfinitePast();
  std::map<std::string, Refusal> refused_;  // By Lease.
  base::RepeatedErrors logged_;
};

}  // namespace cmd

#endif  // CMD_AGENT_LEASE_REFUSALS_H_
