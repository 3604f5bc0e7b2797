#include "tests/bench/search_load/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace load {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr size_t kBeginning = 400;

[[noreturn]] void Fail(absl::string_view what, absl::string_view where) {
  const unsigned long code = ERR_get_error();
  std::array<char, 256> text = {};
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  throw std::runtime_error(
      absl::StrCat(where, ": ", what, ": ", code != 0 ? text.data() : std::strerror(errno)));
}

sockaddr_in AddressOf(const std::string& address) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(address, ':');
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  uint32_t port = 0;
  if (!absl::SimpleAtoi(parts.second, &port) ||
      inet_pton(AF_INET, parts.first.c_str(), &out.sin_addr) != 1) {
    throw std::runtime_error(
        absl::StrCat("\"", address, "\" is not an address such as 127.0.0.1:1"));
  }
  out.sin_port = htons(static_cast<uint16_t>(port));
  return out;
}

}  // namespace

Tls::Tls(const std::string& certificate_file, const std::string& key_file)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  // Several records with one system call; Read() takes them all.
  SSL_CTX_set_read_ahead(context(), 1);
  SSL_CTX_set_default_read_buffer_len(context(), 128 << 10);
  if (certificate_file.empty()) return;
  if (SSL_CTX_use_certificate_chain_file(context(), certificate_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    Fail("cannot use the certificate", certificate_file);
  }
}

bool Answer::Feed(absl::string_view bytes) {
  while (!bytes.empty() && state_ != State::kDone) {
    if (state_ == State::kHead) {
      TakeHead(bytes);
    } else if (state_ == State::kPlain || state_ == State::kChunk) {
      TakeBody(bytes);
    } else {
      TakeChunkLine(bytes);
    }
  }
  return state_ == State::kDone;
}

void Answer::TakeHead(absl::string_view& bytes) {
  const size_t before = line_.size();
  absl::StrAppend(&line_, bytes);
  const size_t end = line_.find("\r\n\r\n");
  if (end == std::string::npos) {
    bytes = {};
    return;
  }
  bytes.remove_prefix(end + 4 - before);
  line_.resize(end + 2);
  ReadHead();
  line_.clear();
}

void Answer::ReadHead() {
  state_ = State::kPlain;
  for (const absl::string_view line : absl::StrSplit(line_, "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (code_ == 0) {
      if (!absl::SimpleAtoi(line.substr(std::min<size_t>(9, line.size()), 3), &code_)) {
        throw std::runtime_error(absl::StrCat("no answer of HTTP: ", line));
      }
    } else if (absl::EqualsIgnoreCase(field.first, "content-length")) {
      (void)absl::SimpleAtoi(field.second, &left_);
    } else if (absl::EqualsIgnoreCase(field.first, "transfer-encoding")) {
      state_ = State::kChunkHead;
    }
  }
  if (state_ == State::kPlain && left_ == 0) state_ = State::kDone;
}

void Answer::TakeBody(absl::string_view& bytes) {
  const absl::string_view piece = bytes.substr(0, left_);
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  body_bytes_ += piece.size();
  if (beginning_.size() < kBeginning) absl::StrAppend(&beginning_, piece.substr(0, kBeginning));
  if (on_body_) on_body_(piece);
  if (left_ == 0) EndPiece();
}

void Answer::EndPiece() { state_ = state_ == State::kChunk ? State::kChunkEnd : State::kDone; }

void Answer::TakeChunkLine(absl::string_view& bytes) {
  const size_t end = bytes.find('\n');
  absl::StrAppend(&line_, bytes.substr(0, end));
  bytes.remove_prefix(end == absl::string_view::npos ? bytes.size() : end + 1);
  if (end == absl::string_view::npos) return;
  const absl::string_view text = absl::StripSuffix(line_, "\r");
  if (state_ == State::kChunkEnd) {
    state_ = State::kChunkHead;
  } else if (state_ == State::kTrailer) {
    if (text.empty()) state_ = State::kDone;
  } else {
    left_ = std::strtoul(std::string(text).c_str(), nullptr, 16);
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  }
  line_.clear();
}

Connection::Connection(const Tls& tls, const std::string& address)
    : address_(address), ssl_(SSL_new(tls.context()), SSL_free) {
  const sockaddr_in to = AddressOf(address);
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    Fail("cannot connect", address_);
  }
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  SSL_set_fd(ssl_.get(), fd_);
  int done = 0;
  while ((done = SSL_connect(ssl_.get())) != 1) Wait(done);
}

Connection::~Connection() { close(fd_); }

void Connection::Wait(int result) const {
  const int error = SSL_get_error(ssl_.get(), result);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
    Fail("the connection broke", address_);
  }
  pollfd wanted = {.fd = fd_,
                   .events = static_cast<short>(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT),
                   .revents = 0};
  if (poll(&wanted, 1, kPatienceMs) == 0) {
    throw std::runtime_error(absl::StrCat(address_, ": nothing happened for a minute"));
  }
}

void Connection::Send(absl::string_view request, Answer* answer) {
  answer_ = answer;
  int done = 0;
  while ((done = SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size()))) <= 0) {
    Wait(done);
  }
}

bool Connection::Read() {
  std::array<char, 64 << 10> buffer;  // NOLINT: what is read from it has been written before.
  while (true) {
    const int size = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) {
      if (answer_->Feed({buffer.data(), static_cast<size_t>(size)})) return true;
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), size);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
    Fail(absl::StrCat("the connection ended within an answer ", answer_->code(), " ",
                      answer_->beginning()),
         address_);
  }
}

}  // namespace load
