// The objects of an API server in memory, and its answers to requests about them. FakeApiServer
// (fake_transport.h) uses it.
#ifndef TESTS_SUPPORT_FAKE_OBJECTS_H_
#define TESTS_SUPPORT_FAKE_OBJECTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/http/transport.h"
#include "kube/meta/object.h"
#include "tests/support/request_path.h"

namespace tests {

// Collections have the names of RequestPath. Not thread-safe.
class FakeObjects {
 public:
  // Where the status of a collection's objects is written: to the subresource only, with the object
  // or not at all.
  enum class Status { kSubresource, kOnObject, kNone };
  // A change for watches to report.
  struct Change {
    std::string collection;
    int64_t version;
    kube::Object before, after;  // Empty if absent.
  };

  // Creates or replaces an object. Returns it as stored, with a new resourceVersion and a uid.
  kube::Object Put(const std::string& collection, kube::Object object);
  // Removes an object in spite of finalizers; does nothing if it is absent.
  void Erase(const std::string& collection, const kube::ObjectKey& key);
  // Returns an empty object if it is absent.
  kube::Object Find(const std::string& collection, const kube::ObjectKey& key) const;
  // Returns them in the order of their keys.
  std::vector<kube::Object> All(const std::string& collection) const;

  // Sets where a collection keeps status. By default there is a subresource, and writes of the
  // object change status, too.
  void KeepStatus(const std::string& collection, Status where);

  // Sets what discovery lists, and which group versions it calls stale; by default nothing.
  void Serve(const std::vector<kube::Resource>& resources, const std::vector<kube::Gvk>& stale);

  // Answers a request that is not a watch. REQUIRES: `body` is JSON or empty.
  kube::HttpResponse Answer(const std::string& method, const RequestPath& path,
                            const std::string& body);

  // The resourceVersion of the last change.
  int64_t version() const { return version_; }
  // All changes so far, oldest first.
  const std::vector<Change>& history() const { return history_; }

 private:
  kube::HttpResponse Create(const RequestPath& path, kube::Object object);
  // Handles a read, or a write when `patch` has replicas. ConfigMaps have no scale.
  kube::HttpResponse Scale(const RequestPath& path, const kube::Object& held,
                           const json::Value& patch);
  kube::HttpResponse Update(const RequestPath& path, const kube::Object& held, kube::Object after);
  kube::HttpResponse Delete(const RequestPath& path, kube::Object held);
  // A page starts after the name in the continue token ("ns/name").
  kube::HttpResponse List(const RequestPath& path) const;

  std::map<std::string, std::map<kube::ObjectKey, kube::Object>> collections_;
  std::map<std::string, Status> status_;
  json::Value discovery_ =
      json::Value::Object({{"kind", "APIGroupDiscoveryList"}, {"items", json::Value::Array()}});
  std::vector<Change> history_;
  int64_t version_ = 100;
};

// Returns whether the label selector of a list or watch with this path selects the object.
bool Selects(const RequestPath& path, const kube::Object& object);

// Return the body of an error, a Status, and an answer with it.
json::Value StatusBody(int code, const std::string& reason);
kube::HttpResponse Failure(int code, const std::string& reason);

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_OBJECTS_H_
