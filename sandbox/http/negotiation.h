// Content negotiation: determines which form of an answer the Accept header asks for.
#ifndef SANDBOX_HTTP_NEGOTIATION_H_
#define SANDBOX_HTTP_NEGOTIATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/json.h"

namespace sandbox {

struct AnswerForm {
  enum class Kind { kPlain, kTable, kPartial, kDiscovery } kind = Kind::kPlain;
  std::string version =
      "v1";  // The version of the Table, PartialObjectMetadata or discovery document.
  bool yaml = false;

  std::string ContentType() const;
};

// 406 when the client accepts no form that the server can write. An empty header means JSON.
absl::StatusOr<AnswerForm> FormOf(absl::string_view accept);

base::HttpResponse AnswerOf(int code, const json::Value& body, const AnswerForm& form);
// Returns the answer with the Status of an error, and with Retry-After where it applies.
base::HttpResponse ErrorAnswer(const absl::Status& status);

// Returns the document in a request body: JSON, YAML or a built-in kind's protobuf, by content
// type. 415 for other types, 400 for malformed text.
absl::StatusOr<json::Value> BodyOf(const base::HttpRequest& request);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_NEGOTIATION_H_
