// Every question is asked once and its answer kept in answers_, an empty or failed one, too: a
// graph asks for the same objects many times. A list that is forbidden for all namespaces is tried
// for one; read_ has what was read. A failure never ends the reading: it becomes a sentence under
// "what", with the first reason and a count, so that a hundred Secrets without rights are one line.
// Values of Secrets are removed before an object is kept. The state that is read is of several
// moments, since no transaction spans them.

#include "lens/graph/reading.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace lens::graph {
namespace {

kube::ObjectPtr WithoutValues(kube::Object object) {
  if (object.gvk() == api::Secrets().gvk) {
    object.Erase({"data"});
    object.Erase({"stringData"});
  }
  return kube::Share(std::move(object));
}

}  // namespace

kube::Resource Reading::ResourceOf(const kube::Gvk& gvk) const {
  const auto found =
      std::find_if(discovery_.resources.begin(), discovery_.resources.end(),
                   [&](const kube::ApiResource& served) { return served.resource.gvk == gvk; });
  return found == discovery_.resources.end() ? kube::Resource() : found->resource;
}

absl::Status Reading::TryList(const kube::Resource& resource, const std::string& ns,
                              const kube::ListOptions& options, std::vector<kube::ObjectPtr>& out) {
  auto page = client_.ListAll(resource, ns, options, stop_);
  RETURN_IF_ERROR(page.status());
  for (kube::Object& object : page->items) out.push_back(WithoutValues(std::move(object)));
  return absl::OkStatus();
}

std::vector<kube::ObjectPtr> Reading::List(const kube::Resource& resource,
                                           const std::vector<std::string>& fields) {
  std::vector<kube::ObjectPtr> objects;
  const absl::Status all = TryList(resource, "", {.fields = fields}, objects);
  // A kind that is not served has no objects: that is known, not a failure.
  if (all.ok() || kube::IsNoSuchKind(all)) {
    read_[resource.gvr()] = "";
    return objects;
  }
  const bool falls_back = resource.namespaced && !ns_.empty() && absl::IsPermissionDenied(all);
  if (falls_back && TryList(resource, ns_, {.fields = fields}, objects).ok()) {
    read_[resource.gvr()] = ns_;
    Note(absl::StrCat(resource.plural, " of other namespaces than ", ns_),
         std::string(all.message()));
    return objects;
  }
  Note(resource.plural, std::string(all.message()));
  return objects;
}

Reading::Answer Reading::ListIn(const kube::Resource& resource, const std::string& ns) {
  const auto [entry, fresh] = answers_.try_emplace({resource.gvr(), {ns, ""}});
  if (!fresh) return entry->second;
  // Only what selects them is of interest.
  const absl::Status listed = TryList(
      resource, ns, {.fields = {"metadata.labels", "metadata.annotations"}}, entry->second.objects);
  if (!listed.ok()) {
    entry->second.known = false;
    Note(absl::StrCat(resource.plural, " in ", ns), std::string(listed.message()));
  }
  return entry->second;
}

Reading::Answer Reading::ListLabelled(const kube::Resource& resource, const std::string& ns,
                                      const std::pair<std::string, std::string>& label,
                                      const std::vector<std::string>& fields) {
  Answer answer;
  const absl::Status listed =
      TryList(resource, ns,
              {.label_selector = absl::StrCat(label.first, "=", label.second), .fields = fields},
              answer.objects);
  if (listed.ok() || kube::IsNoSuchKind(listed)) return answer;
  answer.known = false;
  Note(ns.empty() ? resource.plural : absl::StrCat(resource.plural, " in ", ns),
       std::string(listed.message()));
  return answer;
}

Reading::Answer Reading::Get(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  const kube::Resource resource = ResourceOf(gvk);
  if (resource.gvk.empty()) return {.objects = {}, .known = !MayBeServed(gvk)};
  return Get(resource, {resource.namespaced ? key.ns : "", key.name});
}

Reading::Answer Reading::Get(const kube::Resource& resource, const kube::ObjectKey& key) {
  const auto [entry, fresh] = answers_.try_emplace({resource.gvr(), key});
  Answer& answer = entry->second;
  // What a prefetched list did not contain does not exist.
  if (!fresh || prefetched_.contains(resource.gvr())) return answer;
  absl::StatusOr<kube::Object> object = client_.Get(resource, key, stop_);
  if (object.ok()) {
    answer.objects.push_back(WithoutValues(*std::move(object)));
  } else if (!kube::IsGone(object.status())) {
    answer.known = false;
    Note(key.ns.empty() ? resource.plural : absl::StrCat(resource.plural, " in ", key.ns),
         std::string(object.status().message()));
  }
  return answer;
}

void Reading::Prefetch(const kube::Resource& resource, const std::vector<std::string>& fields) {
  std::vector<kube::ObjectPtr> objects;
  if (!TryList(resource, "", {.fields = fields}, objects).ok()) return;
  prefetched_.insert(resource.gvr());
  for (const kube::ObjectPtr& object : objects) {
    answers_[{resource.gvr(), object->key()}].objects = {object};
  }
}

bool Reading::HasRead(const kube::Resource& resource, absl::string_view ns) const {
  const auto found = read_.find(resource.gvr());
  return found != read_.end() && (found->second.empty() || found->second == ns);
}

bool Reading::IsKnown(const kube::Resource& resource, const kube::ObjectKey& key) const {
  if (HasRead(resource, key.ns)) return true;
  const auto found = answers_.find({resource.gvr(), key});
  return found != answers_.end() && found->second.known;
}

bool Reading::MayBeServed(const kube::Gvk& gvk) {
  const std::vector<std::string>& failed = discovery_.failed_groups;
  if (std::find(failed.begin(), failed.end(), gvk.ApiVersion()) == failed.end()) return false;
  Note(absl::StrCat("objects of ", gvk.ApiVersion()), "the server did not say which kinds it has");
  return true;
}

void Reading::Note(const std::string& what, const std::string& why) {
  const auto [entry, fresh] = failures_.try_emplace(what, Failure{why});
  if (!fresh) ++entry->second.more;
}

std::vector<std::string> Reading::Unread() const {
  std::vector<std::string> sentences;
  for (const auto& [what, failure] : failures_) {
    sentences.push_back(absl::StrCat(
        what, ": ", failure.why,
        failure.more > 0 ? absl::StrCat(" (and ", failure.more, " more of them)") : ""));
  }
  return sentences;
}

}  // namespace lens::graph
