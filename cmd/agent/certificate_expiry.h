// Shows in metrics how long the client certificates last by which an agent reaches its servers.
#ifndef CMD_AGENT_CERTIFICATE_EXPIRY_H_
#define CMD_AGENT_CERTIFICATE_EXPIRY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/certificate_renewal.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/agent/connections.h"
#include "kube/runtime/periodic.h"

namespace cmd {

// Sets the gauges karmada_agent_certificate_remaining_seconds and
// karmada_agent_certificate_lifetime_seconds every ten seconds. There are no series for a
// certificate that is not there: a server may be reached with a token.
class CertificateExpiry : public kube::Periodic {
 public:
  struct Source {
    std::string label;                  // The value of the label `certificate`.
    std::function<ConfigPtr()> config;  // Returns what has it; never nullptr.
  };
  // REQUIRES: `registry`, `clock`, and what the sources use outlive the runnable.
  CertificateExpiry(std::string cluster, std::vector<Source> sources, metrics::Registry& registry,
                    const base::Clock& clock);

  std::string name() const override { return "certificate expiry"; }

  // One look.
  void Look();

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  // What stays the same is not parsed again.
  struct Known {
    Source source;
    ConfigPtr config = nullptr;
    std::optional<tls::Validity> validity = std::nullopt;
  };
  void Show(Known& known);

  const std::string cluster_;
  std::vector<Known> known_;
  metrics::Registry& registry_;
  const base::Clock& clock_;
};

}  // namespace cmd

#endif  // CMD_AGENT_CERTIFICATE_EXPIRY_H_
