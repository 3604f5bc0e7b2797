// An interpreter webhook that rows of the table can name: how it answers is the path of its URL.
#ifndef TESTS_ADVICE_HOOKS_H_
#define TESTS_ADVICE_HOOKS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "base/http_server.h"

namespace tests::advice {

// A server on loopback, as long as the object lives. Paths: /right answers every question well,
// /page is a proxy's page, /refuses reports a failure, /breaks is a server error, /silent never
// answers.
class Hooks {
 public:
  Hooks();
  ~Hooks();
  Hooks(const Hooks&) = delete;

  const std::string& url() const { return url_; }  // "https://127.0.0.1:40123"
  // The values of caBundle with which the server is trusted, and of another authority.
  const std::string& ca() const { return ca_; }
  const std::string& other_ca() const { return other_ca_; }

 private:
  void Handle(const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder);

  absl::Mutex mu_;
  std::vector<std::shared_ptr<base::HttpResponder>> unanswered_ ABSL_GUARDED_BY(mu_);
  std::string url_, ca_, other_ca_;
  std::unique_ptr<base::HttpServer> server_;
};

}  // namespace tests::advice

#endif  // TESTS_ADVICE_HOOKS_H_
