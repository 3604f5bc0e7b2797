// An interference that does what functions of a test say, and records what it is told.
#ifndef TESTS_SANDBOX_HTTP_TEST_INTERFERENCE_H_
#define TESTS_SANDBOX_HTTP_TEST_INTERFERENCE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/http/interference.h"

namespace sandbox {

// The functions may be set before the first request only.
class TestInterference : public Interference {
 public:
  std::function<RequestVerdict(const RequestPtr&)> on_request;
  std::function<AnswerVerdict(const RequestPtr&, const Outcome&)> on_executed;
  std::function<void(const Delivery&)> on_held_back, on_delivery;

  RequestVerdict OnRequest(const RequestPtr& request) override {
    {
      absl::MutexLock lock(&mu_);
      requests_.push_back(request);
    }
    return on_request ? on_request(request) : RequestVerdict();
  }
  AnswerVerdict OnExecuted(const RequestPtr& request, const Outcome& outcome) override {
    {
      absl::MutexLock lock(&mu_);
      outcomes_.push_back(outcome);
    }
    return on_executed ? on_executed(request, outcome) : AnswerVerdict();
  }
  void OnHeldBack(const Delivery& delivery) override {
    Note("held", delivery);
    if (on_held_back) on_held_back(delivery);
  }
  void OnDelivery(const Delivery& delivery) override {
    Note("sent", delivery);
    if (on_delivery) on_delivery(delivery);
  }

  std::vector<RequestPtr> requests() const {
    absl::MutexLock lock(&mu_);
    return requests_;
  }
  std::vector<Outcome> outcomes() const {
    absl::MutexLock lock(&mu_);
    return outcomes_;
  }
  // "held ADDED a;sent ADDED a;"
  std::string log() const {
    absl::MutexLock lock(&mu_);
    return log_;
  }

 private:
  void Note(absl::string_view what, const Delivery& delivery) {
    const std::string name(delivery.object == nullptr ? "" : delivery.object->name());
    absl::MutexLock lock(&mu_);
    absl::StrAppend(&log_, what, " ", delivery.type, " ", name, ";");
  }

  mutable absl::Mutex mu_;
  std::vector<RequestPtr> requests_;
  std::vector<Outcome> outcomes_;
  std::string log_;
};

}  // namespace sandbox

#endif  // TESTS_SANDBOX_HTTP_TEST_INTERFERENCE_H_
