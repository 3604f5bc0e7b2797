// An API server in memory, in the place of a transport, with the functions that tests of code above
// kube::Client need. It stores objects, lists them in pages, applies merge and JSON patches, keeps
// resourceVersions and watches, and misbehaves on demand.
//
//   auto server = std::make_shared<FakeApiServer>();
//   kube::Client client(server, {.name = "fake"}, clock, nullptr);
//   server->Put(kPods, object);               // As some other client would.
//   server->FailNext("GET", 403, "Forbidden");
//   server->EndWatches(absl::OkStatus());
#ifndef TESTS_SUPPORT_FAKE_TRANSPORT_H_
#define TESTS_SUPPORT_FAKE_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "kube/http/transport.h"
#include "kube/meta/object.h"
#include "tests/support/fake_objects.h"

namespace tests {

// Thread-safe. Callbacks of watches come from one thread of its own, in the order of the changes.
class FakeApiServer : public kube::Transport {
 public:
  FakeApiServer();
  // REQUIRES: no stream of it is left.
  ~FakeApiServer() override;

  // Creates or replaces the object, as another client would. Returns it as stored.
  kube::Object Put(const kube::Resource& r, kube::Object object);
  void Erase(const kube::Resource& r, const kube::ObjectKey& key);
  // Returns an empty object when it does not exist.
  kube::Object Find(const kube::Resource& r, const kube::ObjectKey& key) const;
  // Returns all objects of the resource in the order of their keys.
  std::vector<kube::Object> All(const kube::Resource& r) const;

  // The next `times` requests of this method ("WATCH" for watches) are answered with this error;
  // only those for one kind with "GET apps/v1/deployments".
  void FailNext(const std::string& method, int code, const std::string& reason, int times = 1);
  // Drops what is left of FailNext.
  void EndFailures();
  // Where the status of a resource is written; by default to the subresource.
  using Status = FakeObjects::Status;
  void KeepStatus(const kube::Resource& r, Status where);
  // Sets the resources that discovery lists; none until this is called. The group versions of
  // `stale` are listed without resources, as ones whose own server cannot be reached.
  void Serve(const std::vector<kube::Resource>& resources,
             const std::vector<kube::Gvk>& stale = {});
  // Requests of this method ("WATCH" for new watches) wait until Unblock or until they are
  // cancelled.
  void Block(const std::string& method);
  void Unblock() { Block(""); }

  // Ends all open watches with this status as the reason.
  void EndWatches(const absl::Status& status);
  // From now on a watch from a version before the present one is refused (410).
  void Compact();
  // Backup returns all objects and versions, to be put back with Restore, as an etcd is from its
  // backup: objects and resourceVersions are as they were, the connections of all watches break,
  // and a watch from a version that has not been reached yet is refused (504).
  FakeObjects Backup() const;
  // With `cut` false the connections stay, as behind a proxy, and nothing comes through them.
  void Restore(FakeObjects backup, bool cut = true);
  // Sends the present version to all open watches.
  void SendBookmarks();
  // Returns the number of open watches.
  int watches() const;
  // Waits (in real time, at most a minute) until there are n open watches; returns whether there
  // are.
  bool AwaitWatches(int n) const;

  // Returns "PATCH /api/v1/namespaces/a/pods/b" for each request so far; watches have the method
  // "WATCH". All methods if none is given.
  std::vector<std::string> Requests(const std::string& method = "") const;
  // Returns how many requests other than watches have come. An informer opens its watch some time
  // after the list that a test has waited for, so "nothing was asked" is a comparison of these
  // numbers.
  size_t Calls() const;
  // Returns the body of the last request that had one.
  std::string last_body() const;
  // Waits (in real time, at most a minute) until n requests of the method have come; returns
  // whether they have.
  bool AwaitRequests(const std::string& method, int n) const;

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken& stop) override;
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                         kube::StreamCallbacks callbacks) override;

 private:
  struct Stream;
  class Handle;
  using StreamPtr = std::shared_ptr<Stream>;
  using Call = std::function<void(Stream&)>;

  // Code 0 means that no failure is due.
  kube::HttpResponse NextFailure(const std::string& method, const RequestPath& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers a watch and sends it the changes since the version that it asks for.
  void Start(const StreamPtr& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sends the watches the changes since the last call.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // These only record what to send; Deliver makes the callbacks.
  void SendChange(const StreamPtr& stream, const FakeObjects::Change& change);
  void SendEvent(const StreamPtr& stream, const char* type, const kube::Object& object);
  void End(const StreamPtr& stream, const absl::Status& status);
  void Enqueue(const StreamPtr& stream, Call call);
  void Deliver();

  mutable absl::Mutex mu_;
  FakeObjects objects_ ABSL_GUARDED_BY(mu_);
  size_t published_ ABSL_GUARDED_BY(mu_) = 0;  // How many changes have been sent.
  std::vector<StreamPtr> streams_ ABSL_GUARDED_BY(mu_);
  std::vector<StreamPtr> held_ ABSL_GUARDED_BY(mu_);  // Opened while watches were blocked.
  std::map<std::string, std::deque<std::pair<int, std::string>>> failures_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mu_);
  std::string last_body_ ABSL_GUARDED_BY(mu_);
  std::string blocked_ ABSL_GUARDED_BY(mu_);
  int64_t compacted_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Mutex queue_mu_;
  std::deque<std::pair<StreamPtr, Call>> queue_ ABSL_GUARDED_BY(queue_mu_);
  bool closing_ ABSL_GUARDED_BY(queue_mu_) = false;
  std::thread deliverer_;  // Declared last, because it uses all of the above.
};

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_TRANSPORT_H_
