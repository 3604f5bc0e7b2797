// Reads the Accept header and decides in which form an answer is written; reads request bodies by
// their content type. Clauses are sorted by q, wildcards behind names, otherwise in the order of
// the header, and the first one that the server can write wins. The views of the clauses point into
// the header, so nothing is allocated for usual requests. A client that accepts only protobuf gets
// 406: only bodies of requests may be protobuf.

#include "kube/server/negotiation.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/yaml.h"
#include "kube/server/api_errors.h"
#include "kube/server/wire/protobuf_body.h"

namespace kube::server {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kYaml[] = "application/yaml";
constexpr char kJsonStream[] = "application/json;stream=watch";

// One clause of an Accept header. The views are into the header.
struct Clause {
  absl::string_view type, subtype;
  absl::string_view as, group, version, stream, pretty;
  double q = 1;

  bool Takes(absl::string_view wanted) const {
    return type == "*" || (type == "application" && (subtype == "*" || subtype == wanted));
  }
  bool HasTarget() const { return !as.empty() || !group.empty() || !version.empty(); }
};

using Clauses = absl::InlinedVector<Clause, 6>;

void ReadParameter(absl::string_view text, Clause& clause) {
  const size_t equal = text.find('=');
  if (equal == absl::string_view::npos) return;
  const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, equal));
  const absl::string_view value = absl::StripAsciiWhitespace(text.substr(equal + 1));
  if (name == "as") clause.as = value;
  if (name == "g") clause.group = value;
  if (name == "v") clause.version = value;
  if (name == "stream") clause.stream = value;
  if (name == "pretty") clause.pretty = value;
  // As in goautoneg, a q that is not a number is 0.
  if (name == "q" && !absl::SimpleAtod(value, &clause.q)) clause.q = 0;
}

// Returns false for text that is not a media type, which is passed over.
bool ReadClause(absl::string_view text, Clause& clause) {
  bool first = true;
  for (const absl::string_view part : absl::StrSplit(text, ';')) {
    if (!std::exchange(first, false)) {
      ReadParameter(part, clause);
      continue;
    }
    const absl::string_view type = absl::StripAsciiWhitespace(part);
    const size_t slash = type.find('/');
    if (slash == absl::string_view::npos && type != "*") return false;
    clause.type = type.substr(0, slash);
    clause.subtype = slash == absl::string_view::npos ? "*" : type.substr(slash + 1);
    if (absl::StrContains(clause.subtype, '/')) return false;
  }
  return true;
}

// A higher q first, and of equal ones the clause with fewer wildcards.
bool IsBefore(const Clause& a, const Clause& b) {
  if (a.q != b.q) return a.q > b.q;
  const auto wildcards = [](const Clause& c) { return (c.type == "*") + (c.subtype == "*"); };
  return wildcards(a) < wildcards(b);
}

Clauses ReadAccept(absl::string_view header) {
  Clauses clauses;
  for (const absl::string_view text : absl::StrSplit(header, ',')) {
    Clause clause;
    if (ReadClause(text, clause)) clauses.push_back(clause);
  }
  // An insertion sort keeps the order of equals without the memory that a stable sort takes.
  for (size_t i = 1; i < clauses.size(); ++i) {
    for (size_t j = i; j > 0 && IsBefore(clauses[j], clauses[j - 1]); --j) {
      std::swap(clauses[j], clauses[j - 1]);
    }
  }
  return clauses;
}

// Returns whether there is the kind that a clause wants objects converted to.
bool ReadTarget(const Clause& clause, Offer offer, AnswerForm& form) {
  if (!clause.HasTarget()) return true;
  form.version = std::string(clause.version);
  if (offer == Offer::kDiscovery) {
    form.kind = AnswerForm::Kind::kDiscovery;
    return clause.as == "APIGroupDiscoveryList" && clause.group == "apidiscovery.k8s.io" &&
           clause.version == "v2";
  }
  if (clause.group != "meta.k8s.io") return false;
  if (clause.version != "v1" && clause.version != "v1beta1") return false;
  if (clause.as == "Table") {
    form.kind = AnswerForm::Kind::kTable;
    return true;
  }
  form.kind = AnswerForm::Kind::kPartial;
  return clause.as == "PartialObjectMetadata" || clause.as == "PartialObjectMetadataList";
}

// Returns whether the server can write what a clause asks for, and sets `form` if so.
bool Understand(const Clause& clause, Offer offer, AnswerForm& form) {
  const bool json = clause.Takes("json");
  form.yaml = !json && offer != Offer::kStream && clause.Takes("yaml");
  if (!json && !form.yaml) return false;
  if (!clause.stream.empty() && (form.yaml || clause.stream != "watch")) return false;
  form.pretty = clause.pretty == "1";
  return ReadTarget(clause, offer, form);
}

// isPrettyPrint: by the query, else by the names of programs that people run.
bool WantsPretty(const base::HttpRequest& request) {
  const absl::string_view wanted = request.Query("pretty");
  if (!wanted.empty()) {
    return wanted == "1" || wanted == "t" || wanted == "T" || wanted == "true" ||
           wanted == "True" || wanted == "TRUE";
  }
  const absl::string_view agent = request.Header("user-agent");
  return absl::StartsWith(agent, "curl") || absl::StartsWith(agent, "Wget") ||
         absl::StartsWith(agent, "Mozilla/5.0");
}

absl::Status Refuse(Offer offer) {
  if (offer == Offer::kStream) return NotAcceptable({kJsonStream});
  return NotAcceptable({kJson, kYaml});
}

// Returns the media type of a header without its parameters.
std::string MediaTypeOf(absl::string_view header) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(header.substr(0, header.find(';'))));
}

}  // namespace

std::string AnswerForm::ContentType() const {
  if (yaml) return kYaml;
  if (kind != Kind::kDiscovery) return kJson;
  return absl::StrCat("application/json;g=apidiscovery.k8s.io;v=", version,
                      ";as=APIGroupDiscoveryList");
}

absl::StatusOr<AnswerForm> FormOf(absl::string_view accept, Offer offer) {
  if (absl::StripAsciiWhitespace(accept).empty()) return AnswerForm{};
  for (const Clause& clause : ReadAccept(accept)) {
    AnswerForm form;
    if (Understand(clause, offer, form)) return form;
  }
  return Refuse(offer);
}

absl::StatusOr<AnswerForm> Negotiate(const base::HttpRequest& request, Offer offer) {
  auto form = FormOf(request.Header("accept"), offer);
  if (form.ok()) form->pretty = form->pretty || WantsPretty(request);
  return form;
}

base::HttpResponse AnswerOf(int code, const json::Value& body, const AnswerForm& form) {
  base::HttpResponse response;
  response.code = code;
  response.content_type = form.ContentType();
  if (form.yaml) {
    response.body = yaml::Write(body);
    return response;
  }
  json::WriteOptions options;
  if (form.pretty) options.indent = 2;
  response.body = json::Write(body, options);
  response.body.push_back('\n');
  return response;
}

base::HttpResponse ErrorAnswer(const absl::Status& status) {
  ApiError error = ErrorOf(status);
  base::HttpResponse response;
  if (error.code == 429 || error.details["retryAfterSeconds"].AsInt() > 0) {
    const int64_t seconds = error.details["retryAfterSeconds"].AsInt(1);
    response.headers.emplace_back("Retry-After", absl::StrCat(seconds));
    // Clients read the time from the header or from the details; both have it.
    if (!error.details.is_object()) error.details = json::Value::Object();
    error.details.Set("retryAfterSeconds", seconds);
  }
  response.code = error.code;
  response.body = absl::StrCat(json::Write(StatusJson(error)), "\n");
  return response;
}

absl::StatusOr<json::Value> BodyOf(const base::HttpRequest& request) {
  const std::string type = MediaTypeOf(request.Header("content-type"));
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

}  // namespace kube::server
