// Member clusters in memory, and a cache of them.
#ifndef TESTS_SEARCH_CACHE_MEMBERS_H_
#define TESTS_SEARCH_CACHE_MEMBERS_H_

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/cache/composite_version.h"
#include "search/cache/multi_cluster_cache.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace tests {

inline kube::Object PodIn(const std::string& ns, const std::string& name,
                          const std::string& app = "web") {
  kube::Object pod = kube::Object::Make(kPods.gvk, {ns, name});
  pod.SetLabel("app", app);
  pod.Set({"spec", "nodeName"}, "n1");
  return pod;
}

class SearchMembers : public kube::ClusterConfigSource {
  // Declared first, so that the servers outlive what is connected to them.
  absl::Mutex mu_;
  std::map<std::string, std::shared_ptr<FakeApiServer>> servers_;
  std::set<std::string> locked_;

 public:
  SearchMembers() { Make(8 << 20); }
  ~SearchMembers() override { cache_.reset(); }

  // A server per cluster; it exists from its first mention on.
  FakeApiServer& Server(const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    auto& server = servers_[cluster];
    if (server == nullptr) server = std::make_shared<FakeApiServer>();
    return *server;
  }
  // Clusters without credentials.
  void Lock(const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    locked_.insert(cluster);
  }
  void Unlock(const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    locked_.erase(cluster);
  }

  // Makes the cache again, with histories of this size.
  void Make(size_t history_bytes) {
    cache_.reset();
    search::MultiClusterCache::Options made{.clusters = clusters, .clock = clock};
    made.history_bytes = history_bytes;
    made.may_grow = [this]() -> absl::Status {
      if (!is_full) return absl::OkStatus();
      return absl::ResourceExhaustedError("memory is full");
    };
    made.fields = [](const kube::Resource&) { return std::vector<std::string>{"spec.nodeName"}; };
    cache_ = std::make_unique<search::MultiClusterCache>(std::move(made));
  }
  search::MultiClusterCache& cache() { return *cache_; }

  static search::CachedResources Scope(const std::vector<std::string>& names,
                                       const std::set<std::string>& namespaces = {}) {
    search::CachedResources scope;
    for (const std::string& cluster : names) {
      scope[cluster][kPods.gvr()] = {kPods, namespaces};
    }
    return scope;
  }
  // Sets the scope, and waits until these clusters have listed.
  bool Cache(const std::vector<std::string>& names) {
    cache_->SetScope(Scope(names));
    return Eventually([&] {
      for (const std::string& cluster : names) {
        const auto member = cache_->Find(cluster, kPods.gvr());
        if (!member->HasSynced() || Server(cluster).watches() == 0) return false;
      }
      return true;
    });
  }
  // Puts a pod, and waits until the cache shows it. Returns its version.
  int64_t Put(const std::string& cluster, const std::string& ns, const std::string& name,
              const std::string& app = "web") {
    const int64_t version =
        kube::ResourceVersionOf(Server(cluster).Put(kPods, PodIn(ns, name, app)));
    Reach(cluster, version);
    return version;
  }
  void Erase(const std::string& cluster, const std::string& ns, const std::string& name) {
    const int64_t before = Version(cluster);
    Server(cluster).Erase(kPods, {ns, name});
    Reach(cluster, before + 1);
  }
  int64_t Version(const std::string& cluster) {
    return cache_->Find(cluster, kPods.gvr())->progress().version;
  }
  void Reach(const std::string& cluster, int64_t version) {
    const auto member = cache_->Find(cluster, kPods.gvr());
    if (member != nullptr && member->HasSynced()) {
      REQUIRE(Eventually([&] { return member->progress().version >= version; }));
    }
  }

  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    absl::MutexLock lock(&mu_);
    if (locked_.count(cluster) > 0) {
      return absl::NotFoundError(absl::StrCat("cluster ", cluster, " does not have a secret"));
    }
    kube::ConnectionConfig config;
    config.server = cluster;
    return config;
  }

  std::atomic<bool> is_full = false;  // No cache may begin.
  FakeClock clock;
  kube::ClusterSet clusters{Connecting(), *this, clock, nullptr};

 private:
  // Keeps the server alive as long as a client has it.
  class ToServer : public kube::Transport {
   public:
    explicit ToServer(FakeApiServer& server) : server_(server) {}
    absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                            const base::StopToken& stop) override {
      return server_.Send(request, stop);
    }
    std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                           kube::StreamCallbacks callbacks) override {
      return server_.Open(request, std::move(callbacks));
    }

   private:
    FakeApiServer& server_;
  };
  kube::ClusterSet::Options Connecting() {
    kube::ClusterSet::Options options;
    options.new_transport = [this](const kube::ConnectionConfig& config)
        -> absl::StatusOr<std::shared_ptr<kube::Transport>> {
      return std::make_shared<ToServer>(Server(config.server));
    };
    return options;
  }

  std::unique_ptr<search::MultiClusterCache> cache_;
};

// "m1:a/x m2:a/y"
inline std::string Names(const search::ListAnswer& answer) {
  std::vector<std::string> names;
  for (const auto& part : answer.parts) {
    for (const kube::ObjectPtr& o : *part.objects) {
      names.push_back(absl::StrCat(part.cluster, ":", o->ns(), "/", o->name()));
    }
  }
  return absl::StrJoin(names, " ");
}

// "{m1:101,m2:102}" of a composite.
inline std::string Show(const std::string& composite) {
  const auto version = search::CompositeVersion::Parse(composite);
  return absl::StrCat("{", absl::StrJoin(version.versions(), ",", absl::PairFormatter(":")), "}");
}

}  // namespace tests

#endif  // TESTS_SEARCH_CACHE_MEMBERS_H_
