// Content negotiation: determines which form of an answer the Accept header asks for, and reads and
// writes bodies. The rules are those of apiserver's negotiation package, for servers that write
// JSON and YAML: clauses in order of their q, those of wildcards last; a clause that asks for what
// the server cannot write is passed over, so that a client that also accepts JSON gets JSON.
#ifndef KUBE_SERVER_NEGOTIATION_H_
#define KUBE_SERVER_NEGOTIATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/json.h"

namespace kube::server {

struct AnswerForm {
  // kPartial is PartialObjectMetadata of an object and PartialObjectMetadataList of a list,
  // whichever of both was asked for.
  enum class Kind { kPlain, kTable, kPartial, kDiscovery } kind = Kind::kPlain;
  std::string version =
      "v1";  // The version of the Table, PartialObjectMetadata or discovery document.
  bool yaml = false;
  bool pretty = false;  // Indented, for people.

  std::string ContentType() const;
};

// What a request is for, which decides which forms there are.
enum class Offer { kObjects, kStream, kDiscovery };

// Returns the form that a request asks for. 406 when the client accepts none that there is. No
// Accept header means JSON. A stream (a watch) is never YAML. Allocates nothing for the headers
// that kubectl and Go clients send.
absl::StatusOr<AnswerForm> Negotiate(const base::HttpRequest& request,
                                     Offer offer = Offer::kObjects);

// As above by the Accept header alone, never indented unless that says so.
absl::StatusOr<AnswerForm> FormOf(absl::string_view accept, Offer offer = Offer::kObjects);

base::HttpResponse AnswerOf(int code, const json::Value& body, const AnswerForm& form);
// Returns the answer with the Status of an error, and with Retry-After where it applies.
base::HttpResponse ErrorAnswer(const absl::Status& status);

// Returns the document in a request body: JSON, YAML or a built-in kind's protobuf, by content
// type. 415 for other types, 400 for malformed text.
absl::StatusOr<json::Value> BodyOf(const base::HttpRequest& request);

}  // namespace kube::server

#endif  // KUBE_SERVER_NEGOTIATION_H_
