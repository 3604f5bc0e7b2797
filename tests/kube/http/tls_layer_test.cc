#include <malloc.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/tls.h"
#include "kube/http/internal/byte_layer.h"
#include "kube/http/internal/tls_client.h"

namespace kube {
namespace {

// The server's side of a connection, in memory. Once it floods, there is always one more session
// ticket to read, up to `most` of them.
class Server : public ByteLayer {
 public:
  explicit Server(const tls::KeyPair& pair) : ctx_(SSL_CTX_new(TLS_server_method())) {
    REQUIRE(tls::ConfigureServer(ctx_, {.server = pair}).ok());
    ssl_ = SSL_new(ctx_);
    from_client_ = BIO_new(BIO_s_mem());
    to_client_ = BIO_new(BIO_s_mem());
    for (BIO* bio : {from_client_, to_client_}) BIO_set_mem_eof_return(bio, -1);
    SSL_set_bio(ssl_, from_client_, to_client_);
    SSL_set_accept_state(ssl_);
  }
  ~Server() override {
    SSL_free(ssl_);
    SSL_CTX_free(ctx_);
  }

  IoResult Read(char* buffer, size_t size) override {
    if (flooding && BIO_ctrl_pending(to_client_) < size && tickets < most) SendTickets();
    const int got = BIO_read(to_client_, buffer, static_cast<int>(size));
    if (got <= 0) return {IoState::kWantRead};
    given += got;
    return {IoState::kDone, static_cast<size_t>(got)};
  }
  IoResult Write(absl::string_view bytes) override {
    BIO_write(from_client_, bytes.data(), static_cast<int>(bytes.size()));
    if (SSL_is_init_finished(ssl_) == 0) SSL_do_handshake(ssl_);
    return {IoState::kDone, bytes.size()};
  }
  void Say(absl::string_view bytes) {
    REQUIRE(SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0);
  }
  void SendTickets() {
    for (int i = 0; i < 100; ++i, ++tickets) {
      SSL_new_session_ticket(ssl_);
      SSL_do_handshake(ssl_);
    }
  }

  static constexpr int most = 20'000;
  bool flooding = false;
  int tickets = 0;
  size_t given = 0;  // Bytes that the client has read.

 private:
  SSL_CTX* const ctx_;
  SSL* ssl_ = nullptr;
  BIO* from_client_ = nullptr;
  BIO* to_client_ = nullptr;
};

struct Fixture {
  const std::unique_ptr<tls::CertificateAuthority> authority =
      *tls::CertificateAuthority::Create("test authority");
  Server* server = new Server(*authority->Issue({.common_name = "s", .dns_names = {"server"}}));
  const std::shared_ptr<TlsClient> client = *TlsClient::Create(
      *tls::ClientCredentials::Create({.ca_pem = authority->cert_pem()}), "server");
  const std::unique_ptr<TlsLayer> layer = client->Connect(std::unique_ptr<ByteLayer>(server));
  char block[16 << 10];

  Fixture() {
    IoResult result{IoState::kWantRead};
    while (result.state == IoState::kWantRead) result = layer->Handshake();
    INFO(result.error);
    REQUIRE(result.state == IoState::kDone);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Session tickets before, between and after data are passed over") {
  server->SendTickets();
  server->Say("one");
  server->SendTickets();
  server->Say("two");
  IoResult got = layer->Read(block, sizeof block);
  REQUIRE(got.state == IoState::kDone);
  CHECK(absl::string_view(block, got.bytes) == "one");
  got = layer->Read(block, sizeof block);
  REQUIRE(got.state == IoState::kDone);
  CHECK(absl::string_view(block, got.bytes) == "two");
  server->SendTickets();
  CHECK(layer->Read(block, sizeof block).state == IoState::kWantRead);
}

TEST_CASE_METHOD(Fixture, "A server that sends session tickets without end is given up") {
  server->flooding = true;
  const size_t before = server->given;
  const IoResult got = layer->Read(block, sizeof block);
  CHECK(server->given - before <= TlsLayer::kMostPerCall);
  CHECK(got.state == IoState::kBroken);
  CHECK(got.error == "the server sends TLS messages without end");
}

TEST_CASE_METHOD(Fixture, "Any amount of data is read") {
  const std::string record(16'000, 'x');
  size_t read = 0;
  for (int i = 0; i < 40; ++i) {
    server->Say(record);
    const IoResult got = layer->Read(block, sizeof block);
    REQUIRE(got.state == IoState::kDone);
    read += got.bytes;
  }
  CHECK(read == 640'000);
}

TEST_CASE_METHOD(Fixture, "A connection that has read what there is holds no buffer of 16 kB") {
  server->SendTickets();
  server->Say("one");
  const size_t before = mallinfo2().uordblks;
  const IoResult got = layer->Read(block, sizeof block);
  REQUIRE(got.state == IoState::kDone);
  const auto grown = static_cast<int64_t>(mallinfo2().uordblks - before);
  CHECK(grown < 12 << 10);
}

}  // namespace kube
