// Beast's parser knows the grammar. It needs heads, chunk headers and trailers in one piece, so
// unparsed bytes are kept and put before the next ones. Beast limits the head only from the last
// complete line on, so the total is counted here.

#include "kube/http/internal/response_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr size_t kMaxHead = 64 << 10;
constexpr size_t kShortestChunk = 5;  // "0" and two line ends.
constexpr int kMaxInterim = 5;        // As in Go's client.

absl::string_view View(string_view text) { return {text.data(), text.size()}; }

// Parses one message; each interim answer needs one of these.
class Message : public http::basic_parser<false> {
 public:
  Message(const ResponseParser::Options& options, const ResponseParser::Callbacks& callbacks)
      : callbacks_(callbacks), accepts_upgrade_(options.accept_upgrade) {
    eager(true);
    header_limit(kMaxHead);
    // Beast treats boost::none as a limit that every length exceeds.
    body_limit(options.max_body_bytes.value_or(std::numeric_limits<uint64_t>::max()));
    skip(options.no_body);
  }

  HttpResponse head;
  bool head_complete = false;
  absl::Status failed;  // The error of a callback.

  bool is_upgrade() const { return head.code == 101 && accepts_upgrade_; }
  bool is_interim() const { return head.code / 100 == 1 && !is_upgrade(); }

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}

  void on_response_impl(int code, string_view, int, error_code&) override { head.code = code; }

  void on_field_impl(http::field, string_view name, string_view value, error_code& error) override {
    constexpr size_t kAround = 4;  // ": " and the line end.
    size_ += name.size() + value.size() + kAround;
    if (size_ > kMaxHead) {
      error = http::error::header_limit;
      return;
    }
    if (head_complete) return;  // It belongs to the trailer.
    std::string& slot = head.headers[absl::AsciiStrToLower(View(name))];
    // Repeated fields are joined (RFC 9110, 5.2).
    absl::StrAppend(&slot, slot.empty() ? "" : ", ", View(value));
    if (callbacks_.on_field) callbacks_.on_field(View(name), View(value));
  }

  void on_header_impl(error_code& error) override {
    // No other protocol was requested.
    if (head.code == 101 && !accepts_upgrade_) error = http::error::bad_status;
    if (error || is_interim()) return;
    head_complete = true;
    if (callbacks_.on_head) callbacks_.on_head(head);
  }

  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}

  size_t on_body_impl(string_view bytes, error_code& error) override { return Take(bytes, error); }

  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}

  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code& error) override {
    return Take(bytes, error);
  }

  void on_finish_impl(error_code&) override {}

  size_t Take(string_view bytes, error_code& error) {
    if (callbacks_.on_body) failed = callbacks_.on_body(View(bytes));
    // The code does not matter, because the reason is in `failed`.
    if (!failed.ok()) error = http::error::bad_value;
    return bytes.size();
  }

  const ResponseParser::Callbacks& callbacks_;
  const bool accepts_upgrade_;
  size_t size_ = 0;
};

}  // namespace

class ResponseParser::Impl {
 public:
  Impl(const Options& options, Callbacks callbacks)
      : options_(options), callbacks_(std::move(callbacks)) {
    message_.emplace(options_, callbacks_);
  }

  absl::Status Feed(absl::string_view bytes) {
    if (bytes.empty()) return absl::OkStatus();
    started_ = true;
    if (kept_.empty()) return Parse(bytes);
    std::string joined = std::move(kept_);
    std::string().swap(kept_);
    joined.append(bytes.data(), bytes.size());
    // Beast asserts that the last chunk is given to it with at least five bytes, which is one more
    // than it has seen when the body is empty and arrives in small pieces. Every chunk has at least
    // that many.
    if (message_->is_header_done() && joined.size() < kShortestChunk) return Keep(joined);
    return Parse(joined);
  }

  absl::Status End(bool properly) {
    if (!started_) return absl::UnavailableError("closed by the peer");
    if (message_->is_done()) return absl::OkStatus();
    error_code error;
    // Without a length, only a proper end shows that nothing is missing.
    const bool by_end = message_->is_header_done() && message_->need_eof();
    if (!by_end || !properly) return absl::UnavailableError("closed by the peer");
    message_->put_eof(error);
    return error ? ErrorOf(error) : absl::OkStatus();
  }

  bool started() const { return started_; }
  bool done() const { return message_->is_done() && !message_->is_interim(); }
  bool keeps_connection() const { return message_->keep_alive() && !surplus_; }
  HttpResponse& head() { return message_->head_complete ? message_->head : none_; }
  std::string& rest() { return rest_; }

 private:
  absl::Status Parse(absl::string_view bytes) {
    while (!bytes.empty() && !done()) {
      error_code error;
      const size_t used =
          message_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
      bytes.remove_prefix(used);
      if (error == http::error::need_more) return Keep(bytes);
      if (error) return ErrorOf(error);
      if (!message_->is_done() || !message_->is_interim()) continue;
      if (++interim_ > kMaxInterim) {
        return absl::UnavailableError("the server sends interim answers without end");
      }
      message_.emplace(options_, callbacks_);
      if (callbacks_.on_interim) callbacks_.on_interim();
    }
    // Bytes that nobody has asked for: the connection is not used again.
    surplus_ = !bytes.empty();
    if (message_->is_upgrade()) rest_.assign(bytes.data(), bytes.size());
    return absl::OkStatus();
  }

  absl::Status Keep(absl::string_view bytes) {
    if (bytes.size() > kMaxHead) return ErrorOf(http::error::header_limit);
    kept_.assign(bytes.data(), bytes.size());
    return absl::OkStatus();
  }

  absl::Status ErrorOf(const error_code& error) const {
    if (!message_->failed.ok()) return message_->failed;
    if (error == http::error::header_limit) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the answer's head is larger than ", kMaxHead, " bytes"));
    }
    if (error == http::error::body_limit && options_.max_body_bytes.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the answer is larger than ", *options_.max_body_bytes, " bytes"));
    }
    return absl::UnavailableError(
        absl::StrCat("the server does not speak HTTP: ", error.message()));
  }

  const Options options_;
  const Callbacks callbacks_;
  std::optional<Message> message_;
  std::string kept_;  // The beginning of a part that has to be parsed in one piece.
  std::string rest_;  // What follows an upgrade's head.
  HttpResponse none_;
  int interim_ = 0;
  bool started_ = false;
  bool surplus_ = false;  // True if bytes came after the end of the answer.
};

ResponseParser::ResponseParser(const Options& options, Callbacks callbacks)
    : impl_(std::make_unique<Impl>(options, std::move(callbacks))) {}
ResponseParser::~ResponseParser() = default;

absl::Status ResponseParser::Feed(absl::string_view bytes) { return impl_->Feed(bytes); }
absl::Status ResponseParser::End(bool properly) { return impl_->End(properly); }
bool ResponseParser::started() const { return impl_->started(); }
bool ResponseParser::done() const { return impl_->done(); }
bool ResponseParser::keeps_connection() const { return impl_->keeps_connection(); }
std::string& ResponseParser::rest() { return impl_->rest(); }
HttpResponse& ResponseParser::head() { return impl_->head(); }

}  // namespace kube
