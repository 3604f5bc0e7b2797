// Of() reads the body once and notes the places to translate; For() applies the translation for one
// member. JSON (and YAML, which becomes JSON text under its own content type when something in it
// has to change) is edited by the places of its bytes. A JSON patch is an array of operations;
// their values are documents, or parts of one, by their paths; operations on the annotation alone
// are removed, because the member does not have it. Protobuf needs no schema for this: metadata is
// field 1 of every object, and the numbers in metadata and in DeleteOptions are fixed.

#include "search/proxy/internal/write_body.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "api/search_keys.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/random.h"
#include "base/status.h"
#include "base/yaml.h"
#include "kube/aggregation/request_fields.h"
#include "search/proxy/internal/json_places.h"
#include "search/proxy/internal/protobuf_edit.h"

namespace search {
namespace {

constexpr absl::string_view kProtobufMagic("k8s\0", 4);
constexpr char kVersion[] = "resourceVersion";
// The field numbers of runtime.Unknown.raw, metadata, its resourceVersion and annotations, and of
// the key and value of an entry of a map.
constexpr uint32_t kRaw = 2, kMetadataField = 1, kVersionField = 6, kAnnotationsField = 12;
constexpr uint32_t kEntryKey = 1, kEntryValue = 2;
// DeleteOptions.preconditions.resourceVersion, and Eviction.deleteOptions.
constexpr uint32_t kPreconditionsField = 2, kPreconditionVersion = 2, kEvictionOptions = 2;

std::string MediaTypeOf(const base::HttpRequest& request) {
  const absl::string_view header = request.Header("content-type");
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(header.substr(0, header.find(';'))));
}

// Returns whether the body belongs to a process in the cluster, not to the API server.
bool IsStream(absl::string_view subresource) {
  return subresource == "proxy" || subresource == "exec" || subresource == "attach" ||
         subresource == "portforward" || subresource == "log";
}

absl::Status Unsupported(absl::string_view type) {
  return kube::server::UnsupportedMediaType(
      absl::StrCat("the body of the request was in an unknown format - accepted media types "
                   "include: application/json, application/yaml, "
                   "application/vnd.kubernetes.protobuf (got ",
                   type, ")"));
}

// Reads the text to its end and builds nothing of it: the values of "[[],[]," take twenty times as
// much memory as the text.
bool IsJson(absl::string_view text) {
  // Only a field that nobody can know is kept.
  static const json::Fields* const kNothing = new json::Fields({base::NewUuid()});
  return json::Parse(text, {.kept = kNothing}).ok();
}

// What a reader of YAML makes of a text takes hundreds of times as much memory.
constexpr size_t kMaxYaml = 256 << 10;

absl::Status CheckYamlSize(absl::string_view text) {
  if (text.size() <= kMaxYaml) return absl::OkStatus();
  return kube::server::BadRequest(
      absl::StrCat("a body in YAML may have ", kMaxYaml >> 10,
                   " KiB at most when it is sent through the proxy; send JSON"));
}

// Returns nullopt for what is no YAML. One text is read at a time.
std::optional<std::string> JsonOfYaml(absl::string_view text) {
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  const auto parsed = yaml::Parse(text);
  if (!parsed.ok()) return std::nullopt;
  return json::Write(*parsed);
}

// As kube-apiserver has it.
constexpr size_t kMaxOperations = 10'000;

absl::Status CheckOnce(const std::vector<JsonPlace>& places, absl::string_view name) {
  if (places.size() < 2) return absl::OkStatus();
  return kube::server::BadRequest(absl::StrCat("the body has the field \"", name, "\" twice"));
}

// Longer ones are neither versions nor names.
constexpr size_t kMaxText = 64 << 10;

// Returns the text that stands there; "" when it is something else, of which nothing is built.
std::string TextAt(absl::string_view text, const JsonPlace& place) {
  const absl::string_view at =
      absl::StripLeadingAsciiWhitespace(text.substr(place.begin, place.end - place.begin));
  if (!absl::StartsWith(at, "\"") || at.size() > kMaxText) return "";
  const auto value = json::Parse(at);
  return value.ok() ? value->ToString() : "";
}

// Returns the path of the annotation that names the member, as JSON patches write it.
std::string OriginPath() {
  return absl::StrCat("/metadata/annotations/",
                      absl::StrReplaceAll(api::kCachedFromClusterAnnotation, {{"/", "~1"}}));
}

std::vector<absl::string_view> Below(std::vector<absl::string_view> path, absl::string_view name) {
  path.push_back(name);
  return path;
}

// Returns the value of the field in an encoded message; "" when it has none.
std::string ContentsOf(absl::string_view message, FieldPath path) {
  std::string out;
  const auto read = EditField(message, path, [&](absl::string_view contents) {
    out = std::string(contents);
    return absl::StatusOr<std::optional<std::string>>(std::optional<std::string>(""));
  });
  return read.ok() ? out : "";
}

}  // namespace

absl::StatusOr<WriteBody> WriteBody::Of(const InnerRequest& inner, DecodeVersions decode) {
  WriteBody body(std::move(decode));
  body.resource_ = {inner.info.gvr.group, inner.info.gvr.resource};
  body.name_ = inner.info.key.name;
  body.text_ = inner.request.body;
  if (body.text_.empty() || IsStream(inner.info.subresource)) return body;
  // Readers differ on which one counts.
  if (kube::aggregation::ValuesOf(inner.request, "content-type").size() > 1) {
    return kube::server::BadRequest("the request has several headers Content-Type");
  }
  const std::string type = MediaTypeOf(inner.request);
  if (type == "application/vnd.kubernetes.protobuf") {
    body.ReadProtobuf(inner);
    return body;
  }
  // Clients send JSON as the YAML of a server-side apply.
  const bool is_json = IsJson(body.text_);
  const bool yaml = absl::EndsWith(type, "yaml") && !is_json;
  if (!absl::EndsWith(type, "yaml") && !absl::EndsWith(type, "json") && !type.empty() &&
      type != "*/*") {
    return Unsupported(type);
  }
  if (yaml) {
    RETURN_IF_ERROR(CheckYamlSize(body.text_));
    std::optional<std::string> text = JsonOfYaml(body.text_);
    if (!text) return body;
    body.text_ = *std::move(text);
  } else if (!is_json) {
    return body;
  }
  if (absl::EndsWith(type, "json-patch+json")) {
    RETURN_IF_ERROR(body.ReadJsonPatch(inner));
  } else {
    RETURN_IF_ERROR(body.ReadJson(inner));
  }
  // YAML in which nothing has to change keeps its form.
  if (body.versions_.empty() && body.cuts_.empty()) body.text_ = inner.request.body;
  return body;
}

absl::Status WriteBody::ReadJson(const InnerRequest& inner) {
  if (inner.request.method == "DELETE") return NoteVersion(text_, {"preconditions", kVersion});
  if (inner.info.subresource == "eviction") {
    RETURN_IF_ERROR(NoteVersion(text_, {"deleteOptions", "preconditions", kVersion}));
  }
  return NoteMetadata(text_, {"metadata"});
}

absl::Status WriteBody::ReadJsonPatch(const InnerRequest& inner) {
  const std::vector<JsonPlace> places = PlacesOf(text_, {"*"});
  if (places.size() > kMaxOperations) {
    return kube::server::BadRequest(absl::StrCat("a JSON patch may have ", kMaxOperations,
                                                 " operations at most, this one has ",
                                                 places.size()));
  }
  bool some_stay = false;  // Of the operations so far.
  for (size_t i = 0; i < places.size(); ++i) {
    const JsonPlace& place = places[i];
    const absl::string_view operation =
        absl::string_view(text_).substr(place.begin, place.end - place.begin);
    const std::vector<JsonPlace> paths = PlacesOf(operation, {"path"});
    RETURN_IF_ERROR(CheckOnce(paths, "path"));
    const std::string path = paths.empty() ? "-" : TextAt(operation, paths[0]);
    if (path == OriginPath() && TakesOrigin(operation, inner.cluster)) {
      // With the comma before it, or, where nothing stays before it, with the one after it.
      const bool is_last = i + 1 == places.size();
      const size_t end = some_stay || is_last ? place.end : places[i + 1].begin;
      cuts_.push_back({some_stay ? places[i - 1].end : place.begin, end});
      continue;
    }
    some_stay = true;
    RETURN_IF_ERROR(NoteOperation(operation, path));
  }
  return absl::OkStatus();
}

bool WriteBody::TakesOrigin(absl::string_view operation, const std::string& chosen_cluster) {
  const std::vector<JsonPlace> ops = PlacesOf(operation, {"op"});
  const std::vector<JsonPlace> values = PlacesOf(operation, {"value"});
  // What moves or copies something there, and what cannot be understood, is the member's to refuse.
  if (ops.size() != 1 || values.size() > 1) return false;
  const std::string op = TextAt(operation, ops[0]);
  if (op == "remove") return true;
  if (op != "add" && op != "replace" && op != "test") return false;
  const std::string cluster = values.empty() ? "" : TextAt(operation, values[0]);
  if (cluster.empty()) return false;
  if (op == "test" && !chosen_cluster.empty() && cluster != chosen_cluster) return false;
  origin_ = cluster;
  return true;
}

absl::Status WriteBody::NoteOperation(absl::string_view operation, const std::string& path) {
  if (path == "/metadata/resourceVersion") return NoteVersion(operation, {"value"});
  if (path == "/metadata/annotations") return NoteAnnotation(operation, {"value"});
  if (path == "/metadata") return NoteMetadata(operation, {"value"});
  if (path.empty()) return NoteMetadata(operation, {"value", "metadata"});
  return absl::OkStatus();
}

absl::Status WriteBody::NoteMetadata(absl::string_view text, const Names& path) {
  RETURN_IF_ERROR(NoteAnnotation(text, Below(path, "annotations")));
  return NoteVersion(text, Below(path, kVersion));
}

absl::Status WriteBody::NoteVersion(absl::string_view text, const Names& path) {
  const std::vector<JsonPlace> places = PlacesOf(text, path);
  RETURN_IF_ERROR(CheckOnce(places, path.back()));
  if (places.empty()) return absl::OkStatus();
  std::optional<MemberVersions> versions = decode_(TextAt(text, places[0]));
  if (!versions) return absl::OkStatus();
  if (origin_.empty() && versions->size() == 1) origin_ = versions->begin()->first;
  const size_t offset = static_cast<size_t>(text.data() - text_.data());
  versions_.push_back({places[0].begin + offset, places[0].end + offset, std::move(*versions)});
  return absl::OkStatus();
}

absl::Status WriteBody::NoteAnnotation(absl::string_view text, const Names& path) {
  const std::vector<JsonPlace> places =
      PlacesOf(text, Below(path, api::kCachedFromClusterAnnotation));
  RETURN_IF_ERROR(CheckOnce(places, api::kCachedFromClusterAnnotation));
  if (places.empty()) return absl::OkStatus();
  if (const std::string cluster = TextAt(text, places[0]); !cluster.empty()) origin_ = cluster;
  const size_t offset = static_cast<size_t>(text.data() - text_.data());
  cuts_.push_back({places[0].cut_begin + offset, places[0].cut_end + offset});
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteBody::Version(const MemberVersions& versions,
                                               absl::string_view member) const {
  const auto found = versions.find(std::string(member));
  if (found != versions.end() && !found->second.empty()) return found->second;
  return kube::server::Conflict(
      resource_, name_,
      absl::StrCat("the resourceVersion has no entry for cluster ", member,
                   ", which has the object; please read the latest version and try again"));
}

absl::StatusOr<std::string> WriteBody::For(absl::string_view member) const {
  if (!version_fields_.empty()) return ProtobufFor(member);
  std::vector<TextEdit> edits;
  for (const VersionPlace& place : versions_) {
    ASSIGN_OR_RETURN(const std::string version, Version(place.versions, member));
    edits.push_back({place.begin, place.end, json::Write(version)});
  }
  for (const Cut& cut : cuts_) edits.push_back({cut.begin, cut.end, ""});
  return Edited(text_, std::move(edits));
}

void WriteBody::ReadProtobuf(const InnerRequest& inner) {
  if (!absl::StartsWith(text_, kProtobufMagic)) return;
  const bool is_delete = inner.request.method == "DELETE";
  has_proto_metadata_ = !is_delete;
  if (is_delete) version_fields_ = {{kRaw, kPreconditionsField, kPreconditionVersion}};
  if (!is_delete) version_fields_ = {{kRaw, kMetadataField, kVersionField}};
  if (inner.info.subresource == "eviction") {
    version_fields_.push_back({kRaw, kEvictionOptions, kPreconditionsField, kPreconditionVersion});
  }
  const absl::string_view message = absl::string_view(text_).substr(kProtobufMagic.size());
  for (const auto& path : version_fields_) {
    const auto versions = decode_(ContentsOf(message, path));
    if (versions && versions->size() == 1) origin_ = versions->begin()->first;
  }
  if (!has_proto_metadata_) return;
  const std::vector<uint32_t> annotations = {kRaw, kMetadataField, kAnnotationsField};
  const auto read = EditField(message, annotations, [&](absl::string_view entry) {
    if (ContentsOf(entry, {kEntryKey}) == api::kCachedFromClusterAnnotation) {
      origin_ = ContentsOf(entry, {kEntryValue});
    }
    return absl::StatusOr<std::optional<std::string>>(std::nullopt);
  });
  // What cannot be read is the member's to refuse.
  if (!read.ok()) version_fields_.clear();
}

absl::StatusOr<std::string> WriteBody::ProtobufFor(absl::string_view member) const {
  std::string message = text_.substr(kProtobufMagic.size());
  for (const auto& path : version_fields_) {
    absl::Status refused;
    auto edited = EditField(
        message, path, [&](absl::string_view text) -> absl::StatusOr<std::optional<std::string>> {
          const std::optional<MemberVersions> versions = decode_(text);
          if (!versions) return std::optional<std::string>(text);
          absl::StatusOr<std::string> version = Version(*versions, member);
          refused = version.status();
          if (!version.ok()) return refused;
          return std::optional<std::string>(*std::move(version));
        });
    if (!refused.ok()) return refused;
    // What cannot be read is the member's to refuse.
    if (!edited.ok()) return text_;
    message = *std::move(edited);
  }
  if (has_proto_metadata_) {
    const std::vector<uint32_t> annotations = {kRaw, kMetadataField, kAnnotationsField};
    const auto edited = EditField(message, annotations, [](absl::string_view entry) {
      const bool drop = ContentsOf(entry, {kEntryKey}) == api::kCachedFromClusterAnnotation;
      return absl::StatusOr<std::optional<std::string>>(drop ? std::nullopt
                                                             : std::optional<std::string>(entry));
    });
    if (edited.ok()) message = *edited;
  }
  return absl::StrCat(kProtobufMagic, message);
}

}  // namespace search
