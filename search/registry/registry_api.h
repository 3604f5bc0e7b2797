// resourceregistries and resourceregistries/status of search.karmada.io/v1alpha1, as HTTP.
//
//   RegistryApi api({store, feed, clock});
//   if (api.Serves(info)) {
//     if (info.verb == "watch") api.Watch(request, info, responder, stop);  // Does not block.
//     else responder->Send(api.Answer(request, info, stop));                // Blocks.
//   }
//
// Who may do it, audit and limits are the business of the handler chain in front.
#ifndef SEARCH_REGISTRY_REGISTRY_API_H_
#define SEARCH_REGISTRY_REGISTRY_API_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/server/request_info.h"
#include "search/registry/feed.h"
#include "search/registry/registry_answers.h"
#include "search/registry/registry_writes.h"
#include "search/registry/store.h"

namespace search {

class RegistryWatchSession;

// Thread-safe.
class RegistryApi {
 public:
  // REQUIRES: all outlive the object.
  struct Parts {
    RegistryStore& store;
    RegistryFeed& feed;
    const base::Clock& clock;
    // Watches without timeoutSeconds last this long at least, and twice as long at most.
    absl::Duration min_watch_timeout = absl::Minutes(30);
  };
  explicit RegistryApi(const Parts& parts);
  // REQUIRES: no call is running. Ends the watches.
  ~RegistryApi();

  // Returns whether the request is for one of the two resources.
  static bool Serves(const kube::server::RequestInfo& info);

  // As RegistryWrites::Context::may_mirror, for who sends the request.
  using MirrorRight = std::function<absl::Status(const api::OpenSearchTarget& target)>;

  // Answers every verb but watch. Blocks while the storage is asked, at most for its deadline, and
  // while `may_mirror` does.
  base::HttpResponse Answer(const base::HttpRequest& request, const kube::server::RequestInfo& info,
                            const base::StopToken& stop, const MirrorRight& may_mirror = nullptr);
  // Answers a watch, by a stream or by an error. Does not block. The stream ends within a second
  // after a stop is requested, if Run runs.
  void Watch(const base::HttpRequest& request, const kube::server::RequestInfo& info,
             const std::shared_ptr<base::HttpResponder>& responder, const base::StopToken& stop);

  // Ends watches whose time is over; ends all of them, properly, when stopped. Blocks.
  void Run(const base::StopToken& stop);

 private:
  struct Call {
    const base::HttpRequest& request;
    const kube::server::RequestInfo& info;
    AnswerWish wish;
    const base::StopToken& stop;
    const MirrorRight& may_mirror;
  };
  struct Page;

  absl::StatusOr<base::HttpResponse> Handle(const Call& call);
  absl::StatusOr<base::HttpResponse> Get(const Call& call);
  absl::StatusOr<base::HttpResponse> List(const Call& call);
  absl::StatusOr<base::HttpResponse> Create(const Call& call);
  absl::StatusOr<base::HttpResponse> Replace(const Call& call);
  absl::StatusOr<base::HttpResponse> Patch(const Call& call);
  absl::StatusOr<base::HttpResponse> Delete(const Call& call);
  absl::StatusOr<base::HttpResponse> DeleteCollection(const Call& call);
  absl::StatusOr<Page> PageOf(const Call& call);
  absl::StatusOr<std::shared_ptr<RegistryWatchSession>> Open(const base::HttpRequest& request,
                                                             const kube::server::RequestInfo& info,
                                                             const base::StopToken& stop);
  void EndWatches(bool all);

  const Parts parts_;
  RegistryWrites writes_;
  absl::Mutex mu_;
  std::vector<std::shared_ptr<RegistryWatchSession>> sessions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_API_H_
