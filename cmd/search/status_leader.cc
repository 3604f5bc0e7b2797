#include "cmd/search/status_leader.h"

#include <memory>
#include <string>

#include "api/keys.h"
#include "api/programs.h"
#include "base/log.h"
#include "kube/runtime/manager.h"

namespace cmd {
namespace {

// The pause before the next election.
constexpr absl::Duration kPause = absl::Seconds(5);

class WriterRunnable : public kube::Runnable {
 public:
  WriterRunnable(const search::StatusWriter::Parts& parts,
                 const search::StatusWriter::Options& options)
      : writer_(parts, options) {}
  std::string name() const override { return "registry-status"; }
  absl::Status Run(const base::StopToken& stop) override {
    writer_.Run(stop);
    return absl::OkStatus();
  }

 private:
  search::StatusWriter writer_;
};

kube::ManagerOptions ElectionOptions() {
  kube::ManagerOptions options;
  options.health_address = "0";
  options.metrics_address = "0";
  options.lease_namespace = api::kSystemNamespace;
  options.lease_name = api::kSearch;
  options.release_lease = true;
  return options;
}

}  // namespace

void StatusLeader::Run(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    kube::Manager manager(ElectionOptions(), parts_.control_plane, parts_.events,
                          parts_.writer.clock, parts_.registry);
    manager.Add(std::make_unique<WriterRunnable>(parts_.writer, parts_.options));
    const absl::Status ended = manager.Run(stop);
    if (stop.stop_requested()) return;
    base::LogWarning("the status of ResourceRegistries is not written for a while",
                     {{"error", ended}});
    parts_.writer.clock.SleepFor(kPause, stop);
  }
}

}  // namespace cmd
