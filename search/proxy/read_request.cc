// Read takes what a get, list or watch asks for, in this order, so that the first mistake is the
// one that is reported: the form of the answer, the parameters, the selectors, the sort order.
// Selectors on the cluster are taken out and become the choice of clusters; what is left compares
// the objects. Field selectors on a built-in kind compare values that the caches keep beside each
// object's text, others decode each object (FilterOf). Below it are the texts about clusters that
// an answer lacks: for people as headers Warning, at most ten, and for programs as lists of names.
// Nothing is kept between requests.

#include "search/proxy/read_request.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/search_keys.h"
#include "base/cut_text.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/compression.h"
#include "kube/server/field_labels.h"
#include "search/proxy/internal/cluster_selector.h"

namespace search {
namespace {

using kube::server::FieldLabels;
using kube::server::FieldMatcher;

// Clients show every warning; a fleet that is gone needs no hundred lines.
constexpr size_t kMostWarnings = 10;
constexpr size_t kLongestReason = 200;
constexpr size_t kMostNames = 200;

// How callers learn of clusters whose objects an answer lacks, of one and of several.
struct Wording {
  const char* one;
  const char* several;
};
constexpr Wording kMissing = {"is missing", "are missing"};
constexpr Wording kUnreadNamesake = {"has not been read, and may have one of this name",
                                     "have not been read"};
constexpr Wording kStale = {"may not be shown as it is now", "may not be shown as they are now"};

// Returns a text for each cluster, with the reason, up to a number; then how many more there are.
// Those whose objects are lacking come before those that may be old.
std::vector<std::string> TextsOf(std::vector<MissingCluster> clusters, const Wording& lacking) {
  const auto first_stale = std::stable_partition(clusters.begin(), clusters.end(),
                                                 [](const auto& m) { return !m.stale; });
  std::vector<std::string> texts;
  const size_t named = std::min(clusters.size(), kMostWarnings);
  for (size_t i = 0; i < named; ++i) {
    const MissingCluster& m = clusters[i];
    texts.push_back(absl::StrCat("cluster ", m.cluster, " ", m.stale ? kStale.one : lacking.one,
                                 ": ", base::CutText(m.reason, kLongestReason)));
  }
  const size_t lack = static_cast<size_t>(first_stale - clusters.begin());
  const size_t further_lacking = lack - std::min(lack, named);
  const size_t further_stale = clusters.size() - named - further_lacking;
  for (const auto& [count, wording] :
       {std::pair(further_lacking, lacking), std::pair(further_stale, kStale)}) {
    if (count == 0) continue;
    texts.push_back(absl::StrCat(count, " further cluster", count == 1 ? " " : "s ",
                                 count == 1 ? wording.one : wording.several));
  }
  return texts;
}

// Returns the texts, each after a semicolon.
std::string Appended(const std::vector<MissingCluster>& clusters, const Wording& lacking) {
  return absl::StrJoin(
      TextsOf(clusters, lacking), "",
      [](std::string* out, const std::string& text) { absl::StrAppend(out, "; ", text); });
}

// Returns whether all objects keep as values what the selector compares.
bool ComparesKeptFields(const FieldMatcher& fields, const kube::Resource& resource) {
  const std::vector<std::string> compared = fields.Labels();
  const FieldLabels kept = FieldLabels::Of(resource.gvk);
  return std::all_of(compared.begin(), compared.end(), [&kept](const std::string& label) {
    return std::any_of(kept.all().begin(), kept.all().end(),
                       [&label](const auto& field) { return field.label == label; });
  });
}

ObjectFilter FilterOf(const kube::LabelSelector& labels, FieldMatcher fields, std::string name,
                      const kube::Resource& resource) {
  ObjectFilter filter;
  filter.labels = labels;
  if (fields.MatchesEverything() && name.empty()) return filter;
  const bool kept = ComparesKeptFields(fields, resource);
  filter.also = [fields = std::move(fields), name = std::move(name),
                 kept](const kube::EncodedObject& object) {
    if (!name.empty() && object.name() != name) return false;
    return fields.Matches(kept ? object.root() : object.Decode().root());
  };
  return filter;
}

absl::StatusOr<kube::SortOrder> SortOf(const base::HttpRequest& request, bool watch) {
  const absl::string_view text = request.Query("sort");
  if (watch && !text.empty()) return kube::server::BadRequest("a watch cannot be sorted");
  absl::StatusOr<kube::SortOrder> sort = kube::SortOrder::Parse(text);
  if (!sort.ok()) return kube::server::BadRequest(sort.status().message());
  return sort;
}

void AddWarning(absl::string_view text, base::HttpResponse& response) {
  response.headers.emplace_back("Warning", kube::server::WarningHeader(text));
}

// Names the clusters in headers for programs.
void AddNames(const std::vector<MissingCluster>& clusters, base::HttpResponse& response) {
  std::vector<absl::string_view> missing, stale;
  for (const MissingCluster& m : clusters) {
    std::vector<absl::string_view>& names = m.stale ? stale : missing;
    // The 201st place is taken by "*".
    if (names.size() > kMostNames) continue;
    names.push_back(names.size() < kMostNames ? absl::string_view(m.cluster) : "*");
  }
  if (!missing.empty()) {
    response.headers.emplace_back(api::kMissingClustersHeader, absl::StrJoin(missing, ","));
  }
  if (!stale.empty()) {
    response.headers.emplace_back(api::kStaleClustersHeader, absl::StrJoin(stale, ","));
  }
}

}  // namespace

absl::StatusOr<ReadRequest> ReadRequest::Read(const kube::aggregation::ApiRequest& request,
                                              const kube::Resource& resource,
                                              const std::string& cluster,
                                              const CustomKinds& kinds) {
  const bool watch = request.info.verb == "watch";
  ReadRequest out;
  out.resource = resource;
  out.key = request.info.key;
  out.cluster = cluster;
  ASSIGN_OR_RETURN(out.form,
                   kube::server::Negotiate(request.http, watch ? kube::server::Offer::kStream
                                                               : kube::server::Offer::kObjects));
  ASSIGN_OR_RETURN(out.include, kube::server::IncludeOf(request.http, out.form));
  if (out.form.kind == kube::server::AnswerForm::Kind::kTable) {
    out.printer = PrinterWithCluster(kinds, resource);
    out.columns = kinds.DefinedPrinterOf(resource);
  }
  // A get has neither selectors nor pages.
  if (request.info.verb == "get") {
    out.options.resource_version = std::string(request.http.Query("resourceVersion"));
    return out;
  }
  ASSIGN_OR_RETURN(out.options, kube::server::ListOptions::Read(
                                    request.http, {.watch = watch, .watch_list = true}));
  out.gzip = !watch && kube::server::AcceptsGzip(request.http);
  ASSIGN_OR_RETURN(out.sort, SortOf(request.http, watch));
  const FieldLabels labels = kinds.FieldsOf(resource);
  RETURN_IF_ERROR(TakeClusterSelectors(labels, out.options, out.cluster));
  ASSIGN_OR_RETURN(FieldMatcher fields, labels.Compile(out.options.fields));
  out.filter =
      // The name of a list or watch of one object is a selector like the others.
      FilterOf(out.options.labels, std::move(fields), std::exchange(out.key.name, ""), resource);
  return out;
}

std::vector<std::string> SelectableFields(const kube::Resource& resource) {
  const FieldLabels labels = FieldLabels::Of(resource.gvk);
  std::set<std::string> out;
  for (const kube::server::FieldLabel& label : labels.all()) {
    for (const auto& path : label.paths) out.insert(absl::StrJoin(path, "."));
  }
  return {out.begin(), out.end()};
}

std::shared_ptr<const kube::server::TablePrinter> PrinterWithCluster(
    const CustomKinds& kinds, const kube::Resource& resource) {
  kube::server::TablePrinter::Column column;
  column.name = "Cluster";
  column.description = "The member cluster that the object is in";
  return kube::server::WithAnnotationColumn(kinds.PrinterOf(resource), std::move(column),
                                            api::kCachedFromClusterAnnotation);
}

kube::ObjectPtr DecodedObject(const kube::Object& cached, const std::string& cluster,
                              const std::string& version) {
  kube::Object object = kube::Encoded(cached).Decode();
  object.SetAnnotation(api::kCachedFromClusterAnnotation, cluster);
  if (!version.empty()) object.Set({"metadata", "resourceVersion"}, version);
  return kube::Share(std::move(object));
}

std::string UnreadText(const std::vector<MissingCluster>& unread) {
  return Appended(unread, {"has not been read", "have not been read"});
}

std::string MissingText(const std::vector<MissingCluster>& missing) {
  return Appended(missing, kMissing);
}

void AddUnreadWarnings(const std::vector<MissingCluster>& unread, base::HttpResponse& response) {
  for (const std::string& text : TextsOf(unread, kUnreadNamesake)) AddWarning(text, response);
  AddNames(unread, response);
}

void AddWarnings(const std::vector<MissingCluster>& missing, base::HttpResponse& response) {
  for (const std::string& text : TextsOf(missing, kMissing)) AddWarning(text, response);
  AddNames(missing, response);
}

}  // namespace search
