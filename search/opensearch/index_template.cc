// EnsureTemplate reads the index template, refuses one of another control plane, and puts its own
// if the fingerprint in `_meta` differs; existing indices, which a template does not change, then
// get the same fields by PUT _mapping. A crash between the two leaves those indices with the old
// mapping, and the next call sees an up-to-date template and does not repeat it: new fields are
// then searchable in new indices only. Nothing else is kept here; the mirror calls it at its start
// and each time that it prepares.

#include "search/opensearch/index_template.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "search/opensearch/document.h"

namespace search {
namespace {

// Longer terms are not indexed; OpenSearch would refuse the document from 32,766 bytes on.
constexpr int kMaxKeyword = 8000;
// Higher than that of the templates of OpenSearch itself and of usual log shippers.
constexpr int kPriority = 200;
constexpr size_t kMaxPrefix = 100;

json::Value Keyword() {
  return json::Value::Object({{"type", "keyword"}, {"ignore_above", kMaxKeyword}});
}
json::Value Of(absl::string_view type) { return json::Value::Object({{"type", type}}); }
// A value that does not fit the type is left out of the index, and the document is accepted all the
// same: members' objects are not ours to correct.
json::Value Lenient(absl::string_view type) {
  return json::Value::Object({{"type", type}, {"ignore_malformed", true}});
}
json::Value Properties(json::Value properties) {
  return json::Value::Object({{"dynamic", "false"}, {"properties", std::move(properties)}});
}

json::Value SummaryMapping() {
  return Properties(json::Value::Object({{"phase", Keyword()},
                                         {"reason", Keyword()},
                                         {"node", Keyword()},
                                         {"images", Keyword()},
                                         {"conditions", Keyword()},
                                         {"ready", Of("boolean")},
                                         {"restarts", Lenient("long")},
                                         {"replicas", Lenient("long")},
                                         {"readyReplicas", Lenient("long")}}));
}

json::Value Mapping() {
  json::Value fields = json::Value::Object();
  for (const absl::string_view name : {"cluster", "group", "version", "kind", "namespace", "name",
                                       "uid", "resourceVersion", "labelKeys"}) {
    fields.Set(name, Keyword());
  }
  // flat_object indexes everything inside as keywords under one field, so that objects with any
  // number of names do not reach OpenSearch's limit for fields.
  for (const absl::string_view name : {"labels", "annotations", "spec", "status"}) {
    fields.Set(name, Of("flat_object"));
  }
  for (const absl::string_view name : {"created", "deleted", "mirrored"}) {
    fields.Set(name, Lenient("date"));
  }
  fields.Set("schema", Of("integer"));
  fields.Set("owners", Properties(json::Value::Object(
                           {{"kind", Keyword()}, {"name", Keyword()}, {"uid", Keyword()}})));
  fields.Set("summary", SummaryMapping());
  // What searches never look at is stored but not parsed.
  fields.Set("rest", json::Value::Object({{"type", "object"}, {"enabled", false}}));
  return Properties(std::move(fields));
}

absl::StatusOr<json::Value> Ask(OpenSearchClient& client, OpenSearchRequest request,
                                const base::StopToken& stop) {
  const std::string what = absl::StrCat(request.method, " ", request.path);
  ASSIGN_OR_RETURN(OpenSearchAnswer answer, client.Send(std::move(request), stop));
  RETURN_IF_ERROR(base::Annotate(StatusOf(answer), what));
  return std::move(answer.body);
}

absl::Status CheckOwner(absl::string_view prefix, absl::string_view have, absl::string_view owner) {
  if (have.empty() || owner.empty() || have == owner) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "indices ", prefix, "-* belong to another control plane (", have, ", this one is ", owner,
      "): use another OpenSearch, or delete the index template ", prefix,
      " if that control plane is gone"));
}

// The installed template has this in `_meta`; what OpenSearch makes of the rest is written
// differently from what was put.
std::string Fingerprint(const json::Value& wanted) { return json::Write(wanted["template"]); }

}  // namespace

json::Value IndexTemplate(absl::string_view prefix, absl::string_view owner) {
  json::Value body = json::Value::Object();
  body.Set("index_patterns", json::Value::Array({absl::StrCat(prefix, "-*")}));
  body.Set("priority", kPriority);
  body.Set({"template", "settings"},
           // A single node gets no replica, which it could never place and would report as a yellow
           // cluster.
           json::Value::Object({{"number_of_shards", 1}, {"auto_expand_replicas", "0-1"}}));
  body.Set({"template", "mappings"}, Mapping());
  body.Set({"_meta", "schema"}, kDocumentSchema);
  body.Set({"_meta", "contents"}, Fingerprint(body));
  if (!owner.empty()) body.Set({"_meta", "owner"}, owner);
  return body;
}

absl::Status ValidateIndexPrefix(absl::string_view prefix) {
  bool good = !prefix.empty() && prefix.size() <= kMaxPrefix && absl::ascii_islower(prefix[0]);
  for (const char c : prefix) {
    good = good && (absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-');
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("index prefix \"", prefix,
                   "\": it has to consist of a-z, 0-9 and '-', begin with a letter and have at "
                   "most ",
                   kMaxPrefix, " characters"));
}

absl::StatusOr<bool> EnsureTemplate(OpenSearchClient& client, absl::string_view prefix,
                                    absl::string_view owner, const base::StopToken& stop) {
  const std::string path = absl::StrCat("/_index_template/", prefix);
  const json::Value wanted = IndexTemplate(prefix, owner);
  ASSIGN_OR_RETURN(const OpenSearchAnswer found, client.Send({.path = path}, stop));
  if (found.code != 404) RETURN_IF_ERROR(base::Annotate(StatusOf(found), "GET ", path));
  const json::Value& have = found.body["index_templates"].At(0)["index_template"];
  RETURN_IF_ERROR(CheckOwner(prefix, have.Get({"_meta", "owner"}).AsString(), owner));
  if (have["_meta"] == wanted["_meta"]) return false;
  // Whoever is stopped before existing indices have the mapping must not leave a template that
  // looks as if they had, so its fingerprint follows last.
  json::Value begun = wanted;
  begun.Set({"_meta", "contents"}, "indices do not have it yet");
  // Of two control planes that have found none at the same time one is refused.
  const std::string put_path = absl::StrCat(path, found.code == 404 ? "?create=true" : "");
  RETURN_IF_ERROR(
      Ask(client, {.method = "PUT", .path = put_path, .body = json::Write(begun)}, stop).status());
  const std::string mapping = absl::StrCat("/", prefix, "-*/_mapping");
  const json::Value fields =
      json::Value::Object({{"properties", wanted.Get({"template", "mappings", "properties"})}});
  ASSIGN_OR_RETURN(
      const OpenSearchAnswer put,
      client.Send({.method = "PUT", .path = mapping, .body = json::Write(fields)}, stop));
  // 404: there is no index yet, and the template will do.
  if (put.code != 404) RETURN_IF_ERROR(base::Annotate(StatusOf(put), "PUT ", mapping));
  RETURN_IF_ERROR(
      Ask(client, {.method = "PUT", .path = path, .body = json::Write(wanted)}, stop).status());
  return true;
}

}  // namespace search
