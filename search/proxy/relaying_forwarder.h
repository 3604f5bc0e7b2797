// Passes requests on over the connections of a kube::Forwarder.
#ifndef SEARCH_PROXY_RELAYING_FORWARDER_H_
#define SEARCH_PROXY_RELAYING_FORWARDER_H_

#include <memory>
#include <string>
#include <utility>

#include "base/repeated_errors.h"
#include "kube/http/forwarder.h"
#include "search/proxy/forwarder.h"

namespace search {

class RelayingForwarder : public Forwarder {
 public:
  // `name` is the server in messages: "cluster member1".
  RelayingForwarder(std::string name, std::shared_ptr<kube::Forwarder> forwarder)
      : name_(std::move(name)), forwarder_(std::move(forwarder)) {}

  void Forward(ForwardedRequest request, std::shared_ptr<base::HttpResponder> responder,
               OnForbidden on_forbidden) override;
  bool ReplaceToken(const std::string& token) override { return forwarder_->ReplaceToken(token); }

 private:
  const std::string name_;
  const std::shared_ptr<kube::Forwarder> forwarder_;
  // Shared with requests under way.
  const std::shared_ptr<base::RepeatedErrors> errors_ = std::make_shared<base::RepeatedErrors>();
};

}  // namespace search

#endif  // SEARCH_PROXY_RELAYING_FORWARDER_H_
