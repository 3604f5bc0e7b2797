#include "kube/cache/internal/failure_log.h"

#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kube::internal {
namespace {

constexpr size_t kNamed = 3;

// Returns the server and the error without the name of the resource, as it appears in messages of
// clients and servers.
std::string KindOf(const FailureLog::Cache& cache, const absl::Status& error) {
  const std::string& group = cache.resource.gvk.group;
  const std::string& plural = cache.resource.plural;
  const std::string name = group.empty() ? plural : absl::StrCat(plural, ".", group);
  return absl::StrCat(cache.server, " ", absl::StrReplaceAll(error.ToString(), {{name, "*"}}));
}

}  // namespace

FailureLog::Report FailureLog::ReportOf(const Names& names, const Group& group) {
  std::set<std::string> distinct;
  for (const auto& [informer, name] : names) distinct.insert(name);
  std::string what;
  size_t named = 0;
  for (const std::string& name : distinct) {
    if (named == kNamed) break;
    absl::StrAppend(&what, named++ == 0 ? "" : ", ", name);
  }
  const size_t more = distinct.size() - named;
  if (more > 0) absl::StrAppend(&what, " and ", more, " more");
  return {names.size(), absl::StrCat(what, " of ", group.server), group.example};
}

void FailureLog::Failed(const Cache& cache, const absl::Status& error, base::SteadyTime now) {
  absl::MutexLock lock(&mu_);
  Leave(cache, false);
  std::string kind = KindOf(cache, error);
  Group& group = groups_[kind];
  if (group.fresh.empty()) {
    group.server = cache.server;
    group.since = now;
    group.example = error;
  }
  const std::string name = cache.resource.gvr().ToString();
  group.fresh[cache.informer] = name;
  group.failing[cache.informer] = name;
  group.restored.erase(cache.informer);
  group_of_[cache.informer] = std::move(kind);
}

void FailureLog::Succeeded(const Cache& cache) {
  absl::MutexLock lock(&mu_);
  Leave(cache, true);
}

void FailureLog::Forget(const Cache& cache) {
  absl::MutexLock lock(&mu_);
  Leave(cache, false);
}

void FailureLog::Leave(const Cache& cache, bool restored) {
  const auto kind = group_of_.find(cache.informer);
  if (kind == group_of_.end()) return;
  Group& group = groups_[kind->second];
  group.failing.erase(cache.informer);
  if (restored) group.restored[cache.informer] = cache.resource.gvr().ToString();
  group_of_.erase(kind);
}

std::vector<FailureLog::Report> FailureLog::TakeDue(base::SteadyTime now) {
  std::vector<Report> due;
  absl::MutexLock lock(&mu_);
  for (auto it = groups_.begin(); it != groups_.end();) {
    Group& group = it->second;
    const bool over = group.failing.empty();
    if (!group.fresh.empty() && (over || now - group.since >= kGather)) {
      due.push_back(ReportOf(std::exchange(group.fresh, {}), group));
    }
    group.example = group.fresh.empty() ? absl::OkStatus() : group.example;
    if (over && !group.restored.empty()) due.push_back(ReportOf(group.restored, group));
    it = over ? groups_.erase(it) : std::next(it);
  }
  return due;
}

}  // namespace kube::internal
