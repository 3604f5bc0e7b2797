// Searches the objects of members. Where karmada-search answers for the kind, its cache is asked,
// once for all clusters; else each cluster is asked through the control plane's proxy, with the
// viewer's credentials: four at the same time, page by page, of which only what is wanted is kept.
// A cluster that cannot be asked is named, and the others are shown. An empty answer of the cache
// does not say that there is nothing: upstream's karmada-search answers so, too, for what no
// registry selects, where ours has an error.

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "api/cluster.h"
#include "api/resources.h"
#include "api/search_keys.h"
#include "api/search_paths.h"
#include "base/spelling.h"
#include "base/status.h"
#include "base/threads.h"
#include "kube/client/url.h"
#include "kube/meta/selector.h"
#include "lens/serve/bounds.h"
#include "lens/serve/found.h"
#include "lens/serve/lists.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"
#include "tool/live_objects.h"

namespace lens::serve {
namespace {

constexpr size_t kAtOnce = 4;
constexpr int kPage = 250, kMostPages = 20;
constexpr absl::Duration kPagePatience = absl::Seconds(8);

struct Page {
  std::vector<kube::Object> items;
  std::string next;
  std::string warning;  // What the answer says to be missing.
};

// `cluster` chooses one of a cache; "": all, or the path names it.
absl::StatusOr<Page> ReadPage(kube::Client& client, const std::string& path, const Wanted& wanted,
                              const std::string& cluster, const std::string& next,
                              const base::StopToken& stop) {
  kube::Query query;
  query.Add("limit", absl::StrCat(kPage)).Add("continue", next);
  query.Add("labelSelector", wanted.labels).Add(api::kClusterParameter, cluster);
  kube::HttpRequest request;
  request.path = absl::StrCat(path, query.text());
  request.timeout = kPagePatience;
  ASSIGN_OR_RETURN(const kube::HttpResponse answer, client.GetRaw(request, stop));
  const absl::string_view dropped[] = {"items", "*", "metadata", "managedFields"};
  json::ParseOptions options;
  options.dropped = dropped;
  const absl::StatusOr<json::Value> list = json::Parse(answer.body, options);
  if (answer.code != 200) {
    const std::string why = list.ok() ? (*list)["message"].ToString() : "";
    return absl::UnavailableError(
        absl::StrCat("the answer has the code ", answer.code, why.empty() ? "" : ": ", why));
  }
  RETURN_IF_ERROR(list.status());
  Page page;
  for (const json::Value& item : (*list)["items"].items()) page.items.emplace_back(item);
  page.next = (*list)["metadata"]["continue"].ToString();
  const auto warning = answer.headers.find("warning");
  if (warning != answer.headers.end()) page.warning = warning->second;
  return page;
}

// Collects what is found by several threads.
class Findings {
 public:
  // Returns false when there is no room for more.
  bool Add(const kube::Object& object, const std::string& cluster) {
    absl::MutexLock lock(&mu_);
    if (items_.size() >= kMostFound) return !(is_cut_ = true);
    items_.push_back(FoundJson(object, cluster));
    return true;
  }
  void Note(std::string sentence) {
    absl::MutexLock lock(&mu_);
    unread_.push_back(std::move(sentence));
  }
  json::Value Answer(absl::string_view via, size_t asked) {
    absl::MutexLock lock(&mu_);
    const auto place = [](const json::Value& item) {
      return std::make_tuple(item["namespace"].ToString(), item["name"].ToString(),
                             item["cluster"].ToString());
    };
    std::sort(items_.begin(), items_.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
    json::Value unread = json::Value::Array();
    for (const std::string& sentence : unread_) unread.Append(Shortened(sentence));
    return json::Value::Object({{"items", json::Value::OfItems(std::move(items_))},
                                {"isCut", is_cut_},
                                {"via", via},
                                {"clustersAsked", static_cast<int64_t>(asked)},
                                {"unread", std::move(unread)},
                                {"readAt", kube::FormatTime(absl::Now())}});
  }

 private:
  absl::Mutex mu_;
  std::vector<json::Value> items_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> unread_ ABSL_GUARDED_BY(mu_);
  bool is_cut_ ABSL_GUARDED_BY(mu_) = false;
};

class Search {
 public:
  Search(const Asked& asked, const kube::Resource& resource, std::string path)
      : asked_(asked),
        resource_(resource),
        path_(std::move(path)),
        wanted_(Wanted::Of(asked.parameters)) {}

  // Returns an error when karmada-search does not answer for the kind, or for the cluster, and
  // kNotFound when its answer is empty.
  absl::StatusOr<json::Value> InCache() {
    ASSIGN_OR_RETURN(const size_t seen,
                     ReadAll(absl::StrCat(api::kSearchPath, "/cache", path_), ""));
    if (seen == 0) return absl::NotFoundError("the cache has no such objects");
    return findings_.Answer("karmada-search", 0);
  }

  absl::StatusOr<json::Value> InMembers() {
    ListsOfView lists(asked_.viewer.client(), asked_.stop);
    std::vector<std::string> clusters;
    for (const kube::ObjectPtr& cluster :
         lists.All(api::Clusters(), {"status.conditions", "spec.syncMode"})) {
      const std::string name(cluster->name());
      if (!wanted_.cluster.empty() && wanted_.cluster != name) continue;
      if (!api::ClusterView(*cluster).IsReady()) {
        findings_.Note(absl::StrCat(name, " is not ready, and was not asked"));
      } else if (clusters.size() == kMostMembersAsked) {
        findings_.Note(absl::StrCat(name, " was not asked: at most ", kMostMembersAsked, " are"));
      } else {
        clusters.push_back(name);
      }
    }
    RETURN_IF_ERROR(lists.Check());
    AskAll(clusters);
    return findings_.Answer("members", clusters.size());
  }

 private:
  // Each thread takes the next cluster until none is left.
  void AskAll(const std::vector<std::string>& clusters) {
    std::atomic<size_t> next = 0;
    const auto ask = [&] {
      for (size_t i = next++; i < clusters.size(); i = next++) {
        const absl::Status read =
            ReadAll(absl::StrCat("/apis/", api::Clusters().gvk.ApiVersion(), "/",
                                 api::Clusters().plural, "/", kube::EscapeSegment(clusters[i]),
                                 "/proxy", path_),
                    clusters[i])
                .status();
        if (!read.ok()) findings_.Note(absl::StrCat(clusters[i], ": ", read.message()));
      }
    };
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min(kAtOnce, clusters.size()); ++i) {
      absl::StatusOr<std::thread> thread = base::TryStartThread(ask);
      if (thread.ok()) threads.push_back(*std::move(thread));
    }
    ask();
    for (std::thread& thread : threads) thread.join();
  }

  // Returns how many objects the wanted clusters have, wanted or not. `cluster` is whose objects
  // they are; "": each has it in an annotation.
  absl::StatusOr<size_t> ReadAll(const std::string& path, const std::string& cluster) {
    std::string next;
    size_t seen = 0;
    for (int page_number = 0; page_number < kMostPages; ++page_number) {
      ASSIGN_OR_RETURN(Page page,
                       ReadPage(asked_.viewer.client(), path, wanted_,
                                cluster.empty() ? wanted_.cluster : "", next, asked_.stop));
      if (!page.warning.empty()) findings_.Note(page.warning);
      for (kube::Object& object : page.items) {
        const std::string where =
            cluster.empty() ? std::string(object.Annotation(api::kCachedFromClusterAnnotation))
                            : cluster;
        const bool is_here = wanted_.cluster.empty() || wanted_.cluster == where;
        seen += is_here ? 1 : 0;
        // Items of a list need not have their kind.
        object.Set({"apiVersion"}, resource_.gvk.ApiVersion());
        object.Set({"kind"}, resource_.gvk.kind);
        if (is_here && wanted_.Has(object) && !findings_.Add(object, where)) return seen;
      }
      next = page.next;
      if (next.empty()) return seen;
    }
    findings_.Note(absl::StrCat(cluster.empty() ? "the cache" : cluster, ": only the first ",
                                kMostPages * kPage, " objects were looked at"));
    return seen;
  }

  const Asked& asked_;
  const kube::Resource resource_;
  const std::string path_;
  const Wanted wanted_;
  Findings findings_;
};

// Returns an error for the name of a cluster that does not exist, as what-if does: an answer
// without objects would look like one about a cluster that has none. Who may not list Clusters gets
// that.
absl::Status CheckCluster(const Asked& asked, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  ListsOfView lists(asked.viewer.client(), asked.stop);
  std::vector<std::string> names;
  for (const kube::ObjectPtr& cluster : lists.All(api::Clusters(), {"spec.syncMode"})) {
    names.emplace_back(cluster->name());
  }
  const bool exists = std::find(names.begin(), names.end(), name) != names.end();
  if (exists || !lists.Check().ok()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no cluster ", name, base::DidYouMean(name, names)));
}

bool HasSearch(const kube::Discovery& served) {
  return std::any_of(served.resources.begin(), served.resources.end(), [](const auto& found) {
    return found.resource.gvk.group == api::kSearchGroup;
  });
}

absl::StatusOr<json::Value> FindAll(const Asked& asked, const kube::Discovery& served,
                                    const kube::Resource& resource, const std::string& ns) {
  ASSIGN_OR_RETURN(const std::string path, kube::CollectionPath(resource, ns));
  if (HasSearch(served)) {
    absl::StatusOr<json::Value> cached = Search(asked, resource, path).InCache();
    if (cached.ok()) return cached;
  }
  return Search(asked, resource, path).InMembers();
}

}  // namespace

absl::StatusOr<json::Value> SearchView(const Asked& asked) {
  RETURN_IF_ERROR(kube::LabelSelector::Parse(asked.parameters.Get("labels")).status());
  const std::string given = asked.parameters.Get("type");
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  ASSIGN_OR_RETURN(const kube::Resource resource,
                   tool::FindResource(*served, given.empty() ? "Pod" : given));
  RETURN_IF_ERROR(CheckCluster(asked, Wanted::Of(asked.parameters).cluster));
  const std::string ns = resource.namespaced ? asked.parameters.Get("namespace") : "";
  ASSIGN_OR_RETURN(json::Value answer, FindAll(asked, *served, resource, ns));
  // A member may have one of its own: what is found says more.
  ListsOfView lists(asked.viewer.client(), asked.stop);
  answer.Set("unknown",
             answer["items"].empty() ? lists.UnknownNamespace(ns) : json::Value::Array());
  return answer;
}

}  // namespace lens::serve
