// Measures the cache of many clusters: memory per pod, and the time of gets, lists and a change.
//
//   search_cache_bench [pods] [clusters]      # 10000 2
//
// Its members are transports that make pods up as they are asked for, so that the memory of the
// process is that of the cache. A pod is 4.5 kB, half of it managedFields.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "search/cache/multi_cluster_cache.h"

namespace {

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
constexpr int kNamespaces = 50;

std::string ManagedFields() {
  std::string fields;
  for (int i = 0; fields.size() < 2050; ++i) {
    absl::StrAppend(&fields, R"("f:field)", i, R"(":{".":{},"f:name":{},"f:value":{}},)");
  }
  fields.pop_back();
  return absl::StrCat(R"([{"manager":"kubelet","operation":"Update","apiVersion":"v1",)"
                      R"("fieldsType":"FieldsV1","fieldsV1":{)",
                      fields, "}}]");
}

std::string PodText(int64_t number, int64_t version) {
  static const std::string managed = ManagedFields();
  std::string env;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"SETTING_)", i, R"(","value":")",
                    number * 7919 + i, R"("})");
  }
  return absl::Substitute(
      R"({"metadata":{"name":"web-7d4b9c6f5d-$0","generateName":"web-7d4b9c6f5d-","namespace":"team-$1","uid":"3f1c9e2a-0000-4000-8000-$2","resourceVersion":"$3","creationTimestamp":"2026-11-22T10:00:00Z","labels":{"app":"web-$4","pod-template-hash":"7d4b9c6f5d"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d4b9c6f5d","uid":"11111111-2222-3333-4444-555555555555","controller":true,"blockOwnerDeletion":true}],"managedFields":$5},"spec":{"volumes":[{"name":"kube-api-access-abcde","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":[{"name":"web","image":"registry.example.com/team/web:1.2.3","ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[$6],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-$7","schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-22T10:00:00Z"},{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-22T10:00:00Z"}],"hostIP":"10.0.0.7","podIP":"10.244.1.8","startTime":"2026-11-22T10:00:00Z","containerStatuses":[{"name":"web","state":{"running":{"startedAt":"2026-11-22T10:00:01Z"}},"ready":true,"restartCount":0,"image":"registry.example.com/team/web:1.2.3","containerID":"containerd://$2"}],"qosClass":"Burstable"}})", number,
      number % kNamespaces, 100000000000 + number, version, number % 20, managed, env,
      number % 300);
}

// Serves lists of made-up pods, in pages, and one silent watch.
class Member : public kube::Transport {
 public:
  explicit Member(int64_t pods) : pods_(pods) {}

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    int64_t first = 0;
    const size_t token = request.path.find("continue=");
    if (token != std::string::npos) {
      (void)absl::SimpleAtoi(
          request.path.substr(token + 9, request.path.find('&', token) - token - 9), &first);
    }
    if (absl::StrContains(request.path, "fieldSelector")) first = pods_;
    const int64_t end = std::min<int64_t>(pods_, first + 200);
    kube::HttpResponse response;
    response.code = 200;
    response.body = absl::StrCat(R"({"kind":"PodList","apiVersion":"v1","metadata":{)",
                                 R"("resourceVersion":")", pods_ + 1000, R"(","continue":")",
                                 end < pods_ ? absl::StrCat(end) : "", R"("},"items":[)");
    for (int64_t i = first; i < end; ++i) {
      absl::StrAppend(&response.body, i == first ? "" : ",", PodText(i, i + 1));
    }
    response.body += "]}";
    return response;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&,
                                         kube::StreamCallbacks callbacks) override {
    callbacks_ = std::move(callbacks);
    kube::HttpResponse head;
    head.code = 200;
    callbacks_.on_head(head);
    return std::make_unique<kube::HttpStream>();
  }
  void Change(int64_t pod, int64_t version) {
    std::string text = PodText(pod, version);
    text.insert(1, R"("kind":"Pod","apiVersion":"v1",)");
    callbacks_.on_data(absl::StrCat(R"({"type":"MODIFIED","object":)", text, "}\n"));
  }

 private:
  const int64_t pods_;
  kube::StreamCallbacks callbacks_;
};

class Members : public kube::ClusterConfigSource {
 public:
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override {
    kube::ConnectionConfig config;
    config.server = cluster;
    return config;
  }
};

double Megabytes(const char* field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (absl::StartsWith(line, field)) return std::atof(line.c_str() + line.find(':') + 1) / 1024;
  }
  return 0;
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

template <class Fn>
double Milliseconds(int times, Fn fn) {
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime begin = clock.SteadyNow();
  for (int i = 0; i < times; ++i) fn();
  return absl::ToDoubleMilliseconds(clock.SteadyNow() - begin) / times;
}

// Reads a list as a server writes it, in pieces of 64 kB; returns its size.
size_t ReadList(search::MultiClusterCache& cache, const search::ListRequest& request) {
  search::ListText text(*cache.List(request), kPods.gvk);
  std::string piece;
  size_t size = 0;
  while (text.Append(piece, 64 << 10)) {
    size += piece.size();
    piece.clear();
  }
  return size;
}

void Measure(int64_t pods, int clusters) {
  Members source;
  std::vector<std::shared_ptr<Member>> members;
  for (int i = 0; i < clusters; ++i) members.push_back(std::make_shared<Member>(pods / clusters));
  kube::ClusterSet::Options connecting;
  connecting.new_transport = [&](const kube::ConnectionConfig& config)
      -> absl::StatusOr<std::shared_ptr<kube::Transport>> {
    return members[std::stoul(config.server.substr(1))];
  };
  kube::ClusterSet set(std::move(connecting), source, base::RealClock(), nullptr);
  search::MultiClusterCache::Options options{.clusters = set, .clock = base::RealClock()};
  options.fields = [](const kube::Resource&) {
    return std::vector<std::string>{"spec.nodeName", "status.phase"};
  };
  search::MultiClusterCache cache(std::move(options));
  search::CachedResources scope;
  for (int i = 0; i < clusters; ++i) scope[absl::StrCat("m", i)][kPods.gvr()] = {kPods, {}};

  const double before = Megabytes("VmRSS");
  const double cpu = CpuSeconds();
  const double sync = Milliseconds(1, [&] {
    cache.SetScope(scope);
    (void)cache.AwaitFresh({.gvr = kPods.gvr()}, base::RealClock().SteadyNow() + absl::Minutes(2));
  });
  malloc_trim(0);
  const double after = Megabytes("VmRSS");
  std::printf("pod as sent                 %8zu bytes\n", PodText(1, 1).size());
  const auto one = cache.Get({kPods.gvr(), {"team-0", "web-7d4b9c6f5d-0"}, "m0"});
  std::printf("pod as kept                 %8zu bytes\n", one->encoded().text().size());
  std::printf("start to synced             %8.0f ms, CPU %.2f s (making up pods included)\n", sync,
              CpuSeconds() - cpu);
  std::printf("RSS before, after           %8.1f MB, %.1f MB (peak %.1f MB)\n", before, after,
              Megabytes("VmHWM"));
  std::printf("per pod                     %8.0f bytes\n",
              (after - before) * 1048576 / static_cast<double>(pods));

  search::ListRequest all;
  all.gvr = kPods.gvr();
  size_t size = 0;
  const double full = Milliseconds(10, [&] { size = ReadList(cache, all); });
  std::printf("full list                   %8.2f ms (%.1f MB)\n", full, size / 1e6);
  search::ListRequest page = all;
  page.limit = 500;
  std::printf("first page of 500           %8.2f ms\n",
              Milliseconds(20, [&] { ReadList(cache, page); }));
  search::ListRequest in_namespace = all;
  in_namespace.ns = "team-7";
  std::printf("list of one namespace       %8.3f ms\n",
              Milliseconds(50, [&] { ReadList(cache, in_namespace); }));
  search::ListRequest labelled = all;
  labelled.filter.labels = *kube::LabelSelector::Parse("app=web-3");
  std::printf("list by label (5 %%)         %8.2f ms\n",
              Milliseconds(10, [&] { ReadList(cache, labelled); }));
  std::printf("get                         %8.4f ms\n", Milliseconds(2000, [&] {
                std::string out;
                cache.Get({kPods.gvr(), {"team-0", "web-7d4b9c6f5d-50"}, "m0"})->AppendTo(out);
              }));

  const double held = Megabytes("VmRSS");
  std::vector<search::ListAnswer> answers;
  answers.reserve(100);
  for (int i = 0; i < 100; ++i) answers.push_back(*cache.List(all));
  std::printf("100 lists held at once      %8.1f MB more\n", Megabytes("VmRSS") - held);
  answers.clear();

  std::vector<std::shared_ptr<search::MergedWatch>> watches;
  const std::string now = cache.List(all)->version;
  for (int i = 0; i < 500; ++i) {
    watches.push_back(
        *cache.Watch({.gvr = kPods.gvr(), .resource_version = now}, std::function<void()>()));
  }
  int64_t version = pods + 2000;
  const double fan_out = Milliseconds(20, [&] {
    members[0]->Change(1, ++version);
    for (const auto& watch : watches) {
      std::vector<search::MergedEvent> events;
      std::string line;
      watch->Take(10, events);
      for (const auto& event : events) AppendObject(event, line);
    }
  });
  std::printf("a change for 500 watches    %8.2f ms\n", fan_out);
  watches.clear();
  std::printf("a change, read and stored   %8.4f ms\n", Milliseconds(1000, [&] {
                ++version;
                members[0]->Change(version % 1000, version);
              }));
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_ARENA_MAX, 2);
  Measure(argc > 1 ? std::atoll(argv[1]) : 10000, argc > 2 ? std::atoi(argv[2]) : 2);
  return 0;
}
