// Somebody who looks: credentials for the control plane, and the last reading of the fleet that was
// made with them. Nothing that one viewer has read is shown to another one.
#ifndef LENS_SERVE_VIEWER_H_
#define LENS_SERVE_VIEWER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/aggregation/user_info.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lens/serve/fleet_reading.h"

namespace lens::serve {

// Thread-safe.
class Viewer {
 public:
  // `owner` names the viewer among others: a digest of the token or of the user, "" for the local
  // one. Fails when the configuration cannot be used.
  // `version` tells the local one from those before it, which had other credentials.
  static absl::StatusOr<std::shared_ptr<Viewer>> Create(kube::ConnectionConfig config,
                                                        std::string owner, int version = 0);

  const std::string& owner() const { return owner_; }
  int version() const { return version_; }
  const kube::ConnectionConfig& config() const { return config_; }
  kube::Client& client() { return client_; }
  FleetReading& fleet() { return fleet_; }

  // Asks the control plane whether the credentials still count. kUnauthenticated when not,
  // kPermissionDenied when they may not act for the user, kUnavailable when it does not say; of the
  // local viewer only when it does not answer.
  absl::Status CheckCredentials(const base::StopToken& stop);
  // kUnavailable when the control plane does not answer at all.
  absl::Status CheckAnswers(const base::StopToken& stop);
  // Returns what the control plane serves, read at most a minute ago. kFailedPrecondition when it
  // is not a Karmada control plane.
  absl::StatusOr<std::shared_ptr<const kube::Discovery>> Served(const base::StopToken& stop);

 private:
  Viewer(kube::ConnectionConfig config, std::shared_ptr<kube::Transport> transport,
         std::string owner, int version);
  // kUnavailable when there is no answer.
  absl::StatusOr<kube::HttpResponse> AskVersion(const base::StopToken& stop);

  const std::string owner_;
  const int version_;
  const kube::ConnectionConfig config_;
  kube::Client client_;
  kube::RestMapper mapper_;
  FleetReading fleet_;
  absl::Mutex mu_;
  std::shared_ptr<const kube::Discovery> served_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime served_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
};
using ViewerPtr = std::shared_ptr<Viewer>;

// Returns the connection to the same server with no credentials but the token.
kube::ConnectionConfig WithToken(const kube::ConnectionConfig& plane, const std::string& token);
// Returns the connection that acts for the user: the server allows what it allows the user. The
// groups of all who are, or are not, authenticated are left out, because it adds the right one.
kube::ConnectionConfig ForUser(const kube::ConnectionConfig& plane,
                               const kube::aggregation::UserInfo& user);
// Returns what tells users apart: all that the control plane may decide rights by.
std::string OwnerOf(const kube::aggregation::UserInfo& user);
// As above, of a token.
std::string OwnerOf(const std::string& token);

// Those who look at present. Thread-safe.
class Viewers {
 public:
  // Returns the viewer who owns these credentials, which the control plane is asked about each
  // time. The errors of Viewer::CheckCredentials; kResourceExhausted when too many look.
  absl::StatusOr<ViewerPtr> Find(const std::string& owner, kube::ConnectionConfig credentials,
                                 const base::StopToken& stop);
  // Says that the viewer still looks.
  void Touch(const Viewer& viewer);
  // Forgets all, because the control plane is reached in another way.
  void ForgetAll();
  // Forgets those who have asked nothing for kViewerLeaves.
  void ForgetIdle();
  size_t size() const;

 private:
  struct Entry {
    ViewerPtr viewer;
    base::SteadyTime last_asked;
  };
  // Makes room for one more.
  absl::Status MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);  // By owner.
};

}  // namespace lens::serve

#endif  // LENS_SERVE_VIEWER_H_
