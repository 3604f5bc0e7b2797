// The objects of an API server in memory, and its answers to requests about them; what
// FakeApiServer (fake_transport.h) serves.
#ifndef TESTS_SUPPORT_FAKE_OBJECTS_H_
#define TESTS_SUPPORT_FAKE_OBJECTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/client/transport.h"
#include "kube/meta/object.h"
#include "tests/support/request_path.h"

namespace tests {

// Collections are named as in RequestPath. Not thread-safe.
class FakeObjects {
 public:
  // Where the status of a collection's objects is written: to the subresource only, with the object
  // or not at all.
  enum class Status { kSubresource, kOnObject, kNone };
  // What a watch has to report.
  struct Change {
    std::string collection;
    int64_t version;
    kube::Object before, after;  // Empty: absent.
  };

  // Creates or replaces; the object as stored, with a resourceVersion of its own and a uid.
  kube::Object Put(const std::string& collection, kube::Object object);
  // Whatever its finalizers; nothing happens if it is absent.
  void Erase(const std::string& collection, const kube::ObjectKey& key);
  // Empty when absent.
  kube::Object Find(const std::string& collection, const kube::ObjectKey& key) const;
  // Returns them in the order of their keys.
  std::vector<kube::Object> All(const std::string& collection) const;

  // A collection of which nothing was said has the subresource, and takes status with the object
  // too.
  void KeepStatus(const std::string& collection, Status where);

  // What discovery lists; nothing until this is called.
  void Serve(const std::vector<kube::Resource>& resources);

  // What the server says to a request that is no watch. REQUIRES: `body` is JSON or empty.
  kube::HttpResponse Answer(const std::string& method, const RequestPath& path,
                            const std::string& body);

  // The resourceVersion of the last change.
  int64_t version() const { return version_; }
  // All changes so far, oldest first.
  const std::vector<Change>& history() const { return history_; }

 private:
  kube::HttpResponse Create(const RequestPath& path, kube::Object object);
  // A read, or a write when `patch` has replicas.
  kube::HttpResponse Scale(const RequestPath& path, const kube::Object& held,
                           const json::Value& patch);
  kube::HttpResponse Update(const RequestPath& path, const kube::Object& held, kube::Object after);
  kube::HttpResponse Delete(const RequestPath& path, kube::Object held);
  // Pages start after the name in the continue token ("ns/name").
  kube::HttpResponse List(const RequestPath& path) const;

  std::map<std::string, std::map<kube::ObjectKey, kube::Object>> collections_;
  std::map<std::string, Status> status_;
  json::Value discovery_ =
      json::Value::Object({{"kind", "APIGroupDiscoveryList"}, {"items", json::Value::Array()}});
  std::vector<Change> history_;
  int64_t version_ = 100;
};

// Returns whether a list or watch of this path is to have the object: its label selector says so.
bool Selects(const RequestPath& path, const kube::Object& object);

// The body of an error, a Status, and an answer with it.
json::Value StatusBody(int code, const std::string& reason);
kube::HttpResponse Failure(int code, const std::string& reason);

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_OBJECTS_H_
