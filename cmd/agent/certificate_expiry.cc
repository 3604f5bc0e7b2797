#include "cmd/agent/certificate_expiry.h"

#include <utility>

#include "absl/status/statusor.h"

namespace cmd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(10);

}  // namespace

CertificateExpiry::CertificateExpiry(std::string cluster, std::vector<Source> sources,
                                     metrics::Registry& registry, const base::Clock& clock)
    : Periodic(clock), cluster_(std::move(cluster)), registry_(registry), clock_(clock) {
  for (Source& source : sources) known_.push_back({.source = std::move(source)});
}

absl::Duration CertificateExpiry::Tick(const base::StopToken&) {
  Look();
  return kBetweenLooks;
}

void CertificateExpiry::Look() {
  for (Known& known : known_) Show(known);
}

void CertificateExpiry::Show(Known& known) {
  const metrics::Labels labels{{"member_cluster", cluster_}, {"certificate", known.source.label}};
  ConfigPtr config = known.source.config();
  if (config != known.config) {
    known.config = std::move(config);
    // One that cannot be read is none: connections with it say so.
    const absl::StatusOr<tls::Validity> validity =
        tls::ValidityOf(known.config->client_certificate.cert_pem);
    known.validity = validity.ok() ? std::optional(*validity) : std::nullopt;
    if (!known.validity.has_value()) registry_.RemoveSeries(labels);
  }
  if (!known.validity.has_value()) return;
  registry_
      .GetGauge("karmada_agent_certificate_remaining_seconds",
                "How long the client certificate is still valid; below 0 when it has expired.",
                labels)
      .Set(absl::ToDoubleSeconds(known.validity->not_after - clock_.Now()));
  registry_
      .GetGauge("karmada_agent_certificate_lifetime_seconds",
                "How long the client certificate is valid in all.", labels)
      .Set(absl::ToDoubleSeconds(known.validity->Whole()));
}

}  // namespace cmd
