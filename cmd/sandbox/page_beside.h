// The page of `karmada-lens serve` beside the clusters of a sandbox.
#ifndef CMD_SANDBOX_PAGE_BESIDE_H_
#define CMD_SANDBOX_PAGE_BESIDE_H_

#include <memory>
#include <string>

#include "cmd/sandbox/daemon.h"
#include "cmd/sandbox/session.h"

namespace cmd {

class PageBeside {
 public:
  // Starts the karmada-lens that lies beside this program, and waits for its address, half a minute
  // at most. Returns null when there is none, or it does not start: the clusters do without.
  static std::unique_ptr<PageBeside> Start(Session& session);

  const std::string& url() const { return url_; }

 private:
  PageBeside(Session& session, std::string log_file);

  Daemon daemon_;
  std::string url_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_PAGE_BESIDE_H_
