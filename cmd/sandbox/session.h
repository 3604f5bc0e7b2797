// What `up` and `demo` share: the fleet, its directory of kubeconfigs, the controller manager.
#ifndef CMD_SANDBOX_SESSION_H_
#define CMD_SANDBOX_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cmd/sandbox/agents_beside.h"
#include "cmd/sandbox/control_socket.h"
#include "cmd/sandbox/daemon.h"
#include "cmd/sandbox/directory_lock.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/search_beside.h"
#include "cmd/sandbox/token_secrets.h"
#include "sandbox/fleet.h"
#include "sandbox/sim/event_loop.h"
#include "sandbox/sim/member_extras.h"

namespace cmd {

// A directory. One that this class makes can be entered by its owner only.
class PrivateDirectory {
 public:
  // `path` is created if need be; empty: a new directory under $XDG_RUNTIME_DIR or the directory
  // for temporary files, removed by the destructor unless Keep() was called.
  static absl::StatusOr<PrivateDirectory> Open(const std::string& path);
  ~PrivateDirectory();
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;

  const std::string& path() const { return path_; }
  void Keep() { temporary_ = false; }

 private:
  PrivateDirectory(std::string path, bool temporary)
      : path_(std::move(path)), temporary_(temporary) {}

  std::string path_;
  bool temporary_ = false;
};

class Session {
 public:
  // Starts the clusters and writes their kubeconfigs. kFailedPrecondition when another sandbox uses
  // the directory.
  static absl::StatusOr<std::unique_ptr<Session>> Open(const SandboxOptions& options);

  sandbox::Fleet& fleet() { return *fleet_; }
  PrivateDirectory& directory() { return directory_; }
  std::string KubeconfigPath(const std::string& cluster) const;
  // Returns a sentence about what an earlier run has left in the directory, of which only the log
  // is kept; "" when there was none.
  const std::string& earlier_run() const { return earlier_run_; }

  // Starts the karmada-agents of the members in pull mode, if there are any. REQUIRES: called once.
  absl::Status StartAgents();
  // Returns the agent of the member; nullptr when that is not in pull mode, or when its agent has
  // not been started yet. May be called on any thread.
  Daemon* AgentOf(absl::string_view member) const;

  // Starts the karmada-search beside this program and wires it. REQUIRES: called once.
  absl::Status StartSearch();
  // Returns nullptr while it has not been started. May be called on any thread.
  SearchBeside* search() const {
    absl::MutexLock lock(&beside_mu_);
    return search_.get();
  }

  // Returns the arguments with which a controller manager is started on the control plane.
  std::vector<std::string> ManagerArguments() const;
  // Returns the controller manager that is started with them.
  Daemon& daemon() { return *daemon_; }

 private:
  Session(PrivateDirectory directory, DirectoryLock lock, std::vector<std::string> manager_flags)
      : directory_(std::move(directory)),
        lock_(std::move(lock)),
        manager_flags_(std::move(manager_flags)) {}

  // Gives members what a Fleet does not have. REQUIRES: the kubeconfigs are written.
  absl::Status CompleteMembers();
  // Renames the log of an earlier run, and determines earlier_run().
  absl::Status SetEarlierRunAside();
  std::string LogPath() const;

  PrivateDirectory directory_;
  DirectoryLock lock_;
  const std::vector<std::string> manager_flags_;
  std::string earlier_run_;
  sandbox::EventLoop loop_;  // Runs extras_ and tokens_.
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::vector<std::unique_ptr<sandbox::MemberExtras>> extras_;
  std::vector<std::unique_ptr<TokenSecrets>> tokens_;
  std::unique_ptr<Daemon> daemon_;
  mutable absl::Mutex beside_mu_;  // control_ reads these on its own thread.
  std::unique_ptr<AgentsBeside> agents_ ABSL_GUARDED_BY(beside_mu_);
  std::unique_ptr<SearchBeside> search_ ABSL_GUARDED_BY(beside_mu_);
  // Declared last, because it steers the fleet and the daemon.
  std::unique_ptr<ControlSocket> control_;
};

// Returns the path of the program that --with-controller-manager selects: "" for "off", and for
// "auto" when there is none. kNotFound for a path that cannot be run.
absl::StatusOr<std::string> FindControllerManager(const std::string& wanted);

// Returns the directory of the running program; "" when it cannot be determined.
std::string ProgramDirectory();

// Returns how to type the name of a program that is beside this one: `name` alone when a shell
// finds that very program by $PATH, else with its directory.
std::string CommandFor(const std::string& name);

}  // namespace cmd

#endif  // CMD_SANDBOX_SESSION_H_
