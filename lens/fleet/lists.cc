#include "lens/fleet/lists.h"

#include <algorithm>

#include "absl/status/status.h"
#include "api/resources.h"
#include "kube/client/errors.h"

namespace lens::fleet {

bool Lists::NoteFailure(const absl::Status& status, const kube::Gvk& gvk,
                        const kube::ObjectKey& key, Weight weight) {
  const absl::Status failed = kube::IgnoreGone(status);
  if (failed.ok() || kube::IsNoSuchKind(failed)) return true;
  if (weight == Weight::kHints) return false;
  const bool is_known =
      std::find(unread_.begin(), unread_.end(), failed.message()) != unread_.end();
  if (!is_known) unread_.emplace_back(failed.message());
  unreadable_.push_back({gvk, key});
  if (weight == Weight::kDecides) is_whole_ = false;
  return false;
}

bool Lists::CouldRead(const kube::Gvk& gvk) const {
  return std::none_of(unreadable_.begin(), unreadable_.end(),
                      [&](const why::Unread& entry) { return entry.gvk == gvk; });
}

void Lists::Note(std::string sentence, Weight weight) {
  unread_.push_back(std::move(sentence));
  if (weight == Weight::kDecides) is_whole_ = false;
}

bool Lists::Pages(const kube::Resource& resource, absl::string_view ns, Weight weight,
                  const kube::ListOptions& options, kube::TakePage take) {
  absl::Status status = kube::ForEachPage(client_, resource, ns, options, stop_, take);
  const bool tries_one = absl::IsPermissionDenied(status) && ns.empty() && !ns_.empty();
  // Those of other namespaces only give hints. Works, for example, lie in the namespaces of
  // clusters: that there are none in `ns_` says nothing about a template of it.
  if (tries_one && resource.gvk == api::PropagationPolicies().gvk) {
    status = kube::ForEachPage(client_, resource, ns_, options, stop_, take);
  }
  return NoteFailure(status, resource.gvk, {std::string(ns), ""}, weight);
}

why::Objects Lists::All(const kube::Resource& resource, absl::string_view ns, Weight weight,
                        const kube::ListOptions& options) {
  why::Objects objects;
  Pages(resource, ns, weight, options, [&](kube::ListPage page, bool begins) {
    if (begins) objects.clear();
    for (kube::Object& item : page.items) objects.push_back(kube::Share(std::move(item)));
  });
  return objects;
}

kube::ObjectPtr Lists::Get(const kube::Resource& resource, const kube::ObjectKey& key,
                           Weight weight, bool* known) {
  absl::StatusOr<kube::Object> object = client_.Get(resource, key, stop_);
  const bool is_known = NoteFailure(object.status(), resource.gvk, key, weight);
  if (known != nullptr) *known = is_known;
  return object.ok() ? kube::Share(*std::move(object)) : nullptr;
}

}  // namespace lens::fleet
