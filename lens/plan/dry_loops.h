// The daemon's own loops, run in this process on a simulated control plane without members: those
// that turn templates and policies into bindings and Works.
//
//   DryLoops loops(transport);
//   RETURN_IF_ERROR(loops.Start());
//   ... loops.IsIdle() ...
#ifndef LENS_PLAN_DRY_LOOPS_H_
#define LENS_PLAN_DRY_LOOPS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "config/options.h"
#include "interpreter/interpreter.h"
#include "kube/http/transport.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// A warning event that a loop recorded.
struct LoopWarning {
  std::string kind, ns, name;  // The object that it is about.
  std::string reason;
  std::string message;
};

// Start() runs the detector, the binding loops, the dependencies distributor and what they need.
class DryLoops {
 public:
  // `options` are those of the daemon; controllers that have to do with members do not run.
  DryLoops(std::shared_ptr<kube::Transport> transport, const config::Options& options);
  // Stops the loops and waits for them.
  ~DryLoops();
  DryLoops(const DryLoops&) = delete;

  // Returns when the interpreter's configurations are loaded and the loops have been started.
  absl::Status Start();
  // Returns why the loops have ended; OK while they run.
  absl::Status result() const;

  // Returns whether every informer holds what the server has, and no loop has anything to do now.
  // Items that wait for a retry do not count.
  bool IsIdle(sandbox::Backend& server) const;

  // Returns whether the templates of these kinds are watched: before that no loop knows of them.
  bool Watch(const std::set<kube::Gvr>& kinds) const;

  const interpreter::Interpreter& interpreter() const;

  // Returns the warnings that hold: those after which no success was reported for the same thing.
  std::vector<LoopWarning> Warnings() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_DRY_LOOPS_H_
