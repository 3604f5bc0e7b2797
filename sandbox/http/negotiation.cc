#include "sandbox/http/negotiation.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/yaml.h"
#include "sandbox/http/protobuf_body.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

struct MediaType {
  std::string type;
  std::map<std::string, std::string> parameters;

  std::string Get(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? "" : found->second;
  }
};

MediaType ReadMediaType(absl::string_view text) {
  MediaType out;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ';');
  out.type = absl::AsciiStrToLower(absl::StripAsciiWhitespace(parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(absl::StripAsciiWhitespace(parts[i]), absl::MaxSplits('=', 1));
    out.parameters[std::string(pair.first)] = std::string(pair.second);
  }
  return out;
}

bool IsVersion(const std::string& version, absl::string_view stable, absl::string_view beta) {
  return version == stable || version == beta;
}

// Returns whether the server can write this type, and sets `form` if so.
bool Understand(const MediaType& media, AnswerForm& form) {
  const bool json =
      media.type == "application/json" || media.type == "*/*" || media.type == "application/*";
  form.yaml = media.type == "application/yaml";
  if (!json && !form.yaml) return false;
  const std::string as = media.Get("as");
  if (as.empty()) return true;
  form.version = media.Get("v");
  if (as == "APIGroupDiscoveryList") {
    form.kind = AnswerForm::Kind::kDiscovery;
    return media.Get("g") == "apidiscovery.k8s.io" && IsVersion(form.version, "v2", "v2beta1");
  }
  if (media.Get("g") != "meta.k8s.io" || !IsVersion(form.version, "v1", "v1beta1")) return false;
  if (as == "Table") {
    form.kind = AnswerForm::Kind::kTable;
    return true;
  }
  form.kind = AnswerForm::Kind::kPartial;
  return as == "PartialObjectMetadata" || as == "PartialObjectMetadataList";
}

}  // namespace

std::string AnswerForm::ContentType() const {
  if (yaml) return "application/yaml";
  if (kind != Kind::kDiscovery) return "application/json";
  return absl::StrCat("application/json;g=apidiscovery.k8s.io;v=", version,
                      ";as=APIGroupDiscoveryList");
}

absl::StatusOr<AnswerForm> FormOf(absl::string_view accept) {
  if (absl::StripAsciiWhitespace(accept).empty()) return AnswerForm{};
  for (absl::string_view clause : absl::StrSplit(accept, ',')) {
    AnswerForm form;
    if (Understand(ReadMediaType(clause), form)) return form;
  }
  return ToStatus({406,
                   "NotAcceptable",
                   "only the following media types are accepted: application/json, "
                   "application/yaml",
                   {}});
}

base::HttpResponse AnswerOf(int code, const json::Value& body, const AnswerForm& form) {
  base::HttpResponse response;
  response.code = code;
  response.content_type = form.ContentType();
  response.body = form.yaml ? yaml::Write(body) : absl::StrCat(json::Write(body), "\n");
  return response;
}

base::HttpResponse ErrorAnswer(const absl::Status& status) {
  ApiError error = ErrorOf(status);
  base::HttpResponse response;
  if (error.code == 429 || error.details["retryAfterSeconds"].AsInt() > 0) {
    const int64_t seconds = error.details["retryAfterSeconds"].AsInt(1);
    response.headers.emplace_back("Retry-After", absl::StrCat(seconds));
    if (!error.details.is_object()) error.details = json::Value::Object();
    error.details.Set("retryAfterSeconds", seconds);
  }
  response.code = error.code;
  response.body = absl::StrCat(json::Write(StatusJson(error)), "\n");
  return response;
}

absl::StatusOr<json::Value> BodyOf(const base::HttpRequest& request) {
  const std::string type = ReadMediaType(request.Header("content-type")).type;
  if (type == "application/vnd.kubernetes.protobuf") return DecodeProtobufBody(request.body);
  const bool yaml = absl::EndsWith(type, "yaml");
  const bool json = type.empty() || type == "*/*" || absl::EndsWith(type, "json");
  if (!yaml && !json) {
    return UnsupportedMediaType(
        absl::StrCat("the body of the request was in an unknown format - accepted media types "
                     "include: application/json, application/yaml (got ",
                     type, ")"));
  }
  auto parsed = yaml ? yaml::Parse(request.body) : json::Parse(request.body);
  if (!parsed.ok()) {
    return BadRequest(absl::StrCat("the object provided is unrecognized: couldn't parse the body: ",
                                   parsed.status().message()));
  }
  return parsed;
}

}  // namespace sandbox
