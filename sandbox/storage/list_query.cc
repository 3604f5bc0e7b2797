// A list is read from the store at one version: the present one, an exact earlier one that the
// client names, or, for a further page, that of the first page, which the continue token carries
// with the last key. So all pages show the same state as long as history reaches back to it; then
// the answer is 410, and the client begins again. Selection happens after reading, so that `limit`
// counts selected objects, and how many remain is known only without selectors. Nothing is kept
// between pages.

#include "sandbox/storage/list_query.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace sandbox {

using kube::server::ListOptions;

namespace {

// Where the next page starts, and at which version.
struct Continuation {
  int64_t version = 0;
  kube::ObjectKey after;
};

std::string Encode(const Continuation& c) {
  return absl::WebSafeBase64Escape(json::Write(json::Value::Object(
      {{"v", "meta.k8s.io/v1"}, {"rv", c.version}, {"ns", c.after.ns}, {"name", c.after.name}})));
}

absl::StatusOr<Continuation> Decode(absl::string_view token) {
  std::string text;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    const auto v = json::Parse(text);
    if (v.ok() && (*v)["rv"].is_int()) {
      return Continuation{(*v)["rv"].AsInt(), {(*v)["ns"].ToString(), (*v)["name"].ToString()}};
    }
  }
  return BadRequest("continue key is not valid");
}

absl::StatusOr<int64_t> ReadVersion(absl::string_view text) {
  int64_t n = 0;
  if (text.empty()) return n;
  if (!absl::SimpleAtoi(text, &n) || n < 0) {
    return BadRequest(absl::StrCat("invalid value for resourceVersion: \"", text, "\""));
  }
  return n;
}

absl::StatusOr<Store::Listing> ContinuedListing(const Store& store, const ResourceInfo& info,
                                                const std::string& ns, const Continuation& from) {
  auto listing = store.ListAt(info.table(), ns, from.version);
  if (listing.ok()) return listing;
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You must "
      "start a new list without the continue parameter.");
}

absl::StatusOr<Store::Listing> FirstListing(const Store& store, const ResourceInfo& info,
                                            const std::string& ns, const ListOptions& options,
                                            const ReadView& view) {
  ASSIGN_OR_RETURN(const int64_t wanted, ReadVersion(options.resource_version));
  ASSIGN_OR_RETURN(const int64_t as_of, view.OfList(options));
  const int64_t current = store.version();
  if (wanted > current) return FutureVersion(wanted, current);
  if (wanted > 0 && options.resource_version_match == ListOptions::Match::kExact) {
    return store.ListAt(info.table(), ns, wanted);
  }
  if (as_of > 0) return store.ListAt(info.table(), ns, std::min(as_of, current));
  // Any other version means "at least this one", which the present state is.
  return store.List(info.table(), ns);
}

}  // namespace

absl::StatusOr<int64_t> ReadView::OfGet(absl::string_view resource_version) const {
  if (as_of == 0 || (resource_version.empty() && !all)) return 0;
  ASSIGN_OR_RETURN(const int64_t wanted, ReadVersion(resource_version));
  if (wanted > as_of) return FutureVersion(wanted, as_of);
  return as_of;
}

absl::StatusOr<int64_t> ReadView::OfList(const ListOptions& options) const {
  // As kube-apiserver's watch cache decides what it answers itself.
  const bool limited = options.limit > 0 && options.resource_version != "0";
  const bool exact = options.resource_version_match == ListOptions::Match::kExact;
  if (!all && (limited || exact)) return 0;
  return OfGet(options.resource_version);
}

absl::StatusOr<Selection> Selection::Of(const ListOptions& options, const ResourceInfo& info,
                                        const kube::ObjectKey& key) {
  Selection selection;
  selection.ns = key.ns;
  selection.name = key.name;
  selection.labels = options.labels;
  ASSIGN_OR_RETURN(selection.fields, info.Fields().Compile(options.fields));
  return selection;
}

bool Selection::MatchesEverything() const {
  return labels.MatchesEverything() && fields.MatchesEverything() && name.empty();
}

bool Selection::Matches(const kube::Object& object) const {
  if (!ns.empty() && object.ns() != ns) return false;
  if (!name.empty() && object.name() != name) return false;
  return labels.Matches(object.labels()) && fields.Matches(object.root());
}

json::Value ListPage::Metadata() const {
  json::Value metadata = json::Value::Object({{"resourceVersion", absl::StrCat(version)}});
  if (!next.empty()) metadata.Set("continue", next);
  if (remaining > 0) metadata.Set("remainingItemCount", remaining);
  return metadata;
}

absl::StatusOr<ListPage> ListPageOf(const Store& store, const ResourceInfo& info,
                                    const Selection& selection, const ListOptions& options,
                                    const ReadView& view) {
  Continuation from;
  Store::Listing listing;
  if (const std::string& token = options.continue_token; !token.empty()) {
    ASSIGN_OR_RETURN(from, Decode(token));
    ASSIGN_OR_RETURN(listing, ContinuedListing(store, info, selection.ns, from));
  } else {
    ASSIGN_OR_RETURN(listing, FirstListing(store, info, selection.ns, options, view));
  }
  const auto& all = listing.objects;
  auto at = std::partition_point(all.begin(), all.end(), [&from](const kube::ObjectPtr& o) {
    return from.version != 0 && o->key() <= from.after;
  });
  ListPage page;
  page.version = listing.version;
  for (; at != all.end(); ++at) {
    if (options.limit > 0 && static_cast<int64_t>(page.objects.size()) == options.limit) break;
    if (selection.Matches(**at)) page.objects.push_back(info.ToServed(*at));
  }
  if (at == all.end()) return page;
  // There may be nothing behind this page that is selected; the last page is empty then, as in
  // Kubernetes.
  page.next = Encode({listing.version, page.objects.back()->key()});
  if (selection.MatchesEverything()) page.remaining = std::distance(at, all.end());
  return page;
}

}  // namespace sandbox
