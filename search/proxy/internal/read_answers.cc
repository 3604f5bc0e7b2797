#include "search/proxy/internal/read_answers.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/server/compression.h"
#include "search/proxy/internal/formed_list.h"
#include "search/proxy/internal/pooled_pieces.h"

namespace search {
namespace {

// What is sent at once, and the pieces of what is longer.
constexpr size_t kPiece = 128 << 10;

// Appends text to a list that has begun, as ListText::Append does.
using AppendText = std::function<bool(std::string& out, size_t bytes)>;

AppendText TextOf(const ReadRequest& read, ListAnswer answer) {
  if (IsText(read.form)) {
    const auto text = std::make_shared<ListText>(std::move(answer), read.resource.gvk);
    return [text](std::string& out, size_t bytes) { return text->Append(out, bytes); };
  }
  const auto text = std::make_shared<FormedList>(read, std::move(answer));
  return [text](std::string& out, size_t bytes) { return text->Append(out, bytes); };
}

}  // namespace

bool IsText(const kube::server::AnswerForm& form) {
  return form.kind == kube::server::AnswerForm::Kind::kPlain && !form.yaml && !form.pretty;
}

base::HttpResponse Head(const ReadRequest& read, const std::vector<MissingCluster>& missing) {
  base::HttpResponse response;
  response.content_type = read.form.ContentType();
  AddWarnings(missing, response);
  return response;
}

void SendAnswer(const ReadRequest& read, ListAnswer answer,
                const std::vector<MissingCluster>& missing, kube::aggregation::WorkPool& pool,
                base::HttpResponder& responder) {
  base::HttpResponse response = Head(read, missing);
  const AppendText append = TextOf(read, std::move(answer));
  std::string first;
  append(first, kPiece);
  if (first.size() < kPiece) {
    response.body = std::move(first);
    return responder.Send(std::move(response));
  }
  auto pending = std::make_shared<std::string>(std::move(first));
  const auto next = [append, pending]() -> std::optional<base::SharedBytes> {
    if (pending->empty() && !append(*pending, kPiece)) return std::nullopt;
    return std::make_shared<const std::string>(std::exchange(*pending, ""));
  };
  if (read.gzip) kube::server::AddGzipHeaders(response);
  const auto stream = responder.StartStream(std::move(response));
  // Text costs nothing but its copy.
  if (IsText(read.form) && !read.gzip) return base::WritePieces(stream, next);
  WritePooled(stream, next, read.gzip, pool);
}

}  // namespace search
