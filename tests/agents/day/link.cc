// A request of the agent is noted when it arrives, and its code when it has been executed. What the
// state of the link does to it happens in between: it is closed, held, or delayed, or its answer is
// cut. A thread lets go on what was delayed; it also looks when there is nothing, so that a delay
// may take a little longer than asked.

#include "tests/agents/day/link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/prove/stage.h"

namespace tests {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(500);

using sandbox::AnswerVerdict;
using sandbox::RequestFacts;
using sandbox::RequestVerdict;

bool IsFromBeside(const RequestFacts& request) {
  return absl::StartsWith(request.http->remote_address, absl::StrCat(prove::kBesideAddress, ":"));
}

std::string WhatOf(const RequestFacts& request) {
  const kube::server::RequestInfo& info = request.info;
  if (info.gvr.resource.empty()) return absl::StrCat(request.Verb(), " ", request.http->path);
  std::string kind = info.gvr.resource;
  if (!info.gvr.group.empty()) absl::StrAppend(&kind, ".", info.gvr.group);
  if (!info.subresource.empty()) absl::StrAppend(&kind, "/", info.subresource);
  return absl::StrCat(request.Verb(), " ", kind, " ", info.key.ToString());
}

bool IsHeartbeat(const Sent& sent) {
  return absl::StrContains(sent.what, " leases.") || absl::StrContains(sent.what, " events ");
}

}  // namespace

Link::Link() : timer_([this] { RunTimer(); }) {}

Link::~Link() {
  stop_.request_stop();
  timer_.join();
}

void Link::Set(LinkState state) {
  std::vector<HoldPtr> held;
  {
    absl::MutexLock lock(&mu_);
    state_ = state;
    held.swap(held_);
  }
  if (state == LinkState::kSilent) {
    gate_->Hold();
    return;
  }
  // What the old connections have lost stays lost.
  for (const auto& one : held) one->Drop();
  gate_->Cut();
  gate_->Open();
}

void Link::SetDelay(absl::Duration delay) {
  absl::MutexLock lock(&mu_);
  delay_ = delay;
}

void Link::HoldNext(const std::string& what, bool executed) {
  absl::MutexLock lock(&mu_);
  next_ = what;
  next_is_executed_ = executed;
}

bool Link::Holds() const {
  absl::MutexLock lock(&mu_);
  return !held_.empty();
}

Link::HoldPtr Link::HoldFor(const std::string& what, bool executed) {
  if (next_.empty() || executed != next_is_executed_ || !absl::StartsWith(what, next_)) {
    return nullptr;
  }
  next_.clear();
  held_.push_back(std::make_shared<sandbox::Hold>());
  return held_.back();
}

std::vector<Sent> Link::Since(base::SteadyTime moment) const {
  absl::MutexLock lock(&mu_);
  std::vector<Sent> found;
  std::copy_if(sent_.begin(), sent_.end(), std::back_inserter(found),
               [&](const Sent& sent) { return sent.at >= moment; });
  return found;
}

std::vector<std::string> Link::WritesSince(base::SteadyTime moment) const {
  std::vector<std::string> writes;
  for (const Sent& sent : Since(moment)) {
    if (sent.is_write && !IsHeartbeat(sent)) writes.push_back(sent.what);
  }
  return writes;
}

void Link::RunTimer() {
  for (;;) {
    std::pair<base::SteadyTime, HoldPtr> next;
    {
      absl::MutexLock lock(&mu_);
      if (!delayed_.empty()) {
        next = delayed_.front();
        delayed_.pop_front();
      }
    }
    const base::SteadyTime now = base::RealClock().SteadyNow();
    const absl::Duration pause = next.second == nullptr ? kLook : next.first - now;
    if (!base::RealClock().SleepFor(pause, stop_.get_token())) return;
    if (next.second != nullptr) next.second->Release();
  }
}

RequestVerdict Link::OnRequest(const sandbox::RequestPtr& request) {
  if (IsFromBeside(*request)) return {};
  absl::MutexLock lock(&mu_);
  sent_.push_back({base::RealClock().SteadyNow(), WhatOf(*request), request->IsWrite()});
  numbers_.push_back(request->number);
  if (const HoldPtr hold = HoldFor(sent_.back().what, /*executed=*/false)) {
    return RequestVerdict::Wait(hold);
  }
  if (state_ == LinkState::kRefused) return RequestVerdict::Close();
  if (state_ == LinkState::kSilent) {
    held_.push_back(std::make_shared<sandbox::Hold>());
    return RequestVerdict::Wait(held_.back());
  }
  if (request->Verb() == "watch") return RequestVerdict::Read(nullptr, gate_);
  if (delay_ == absl::ZeroDuration()) return {};
  const auto hold = std::make_shared<sandbox::Hold>();
  delayed_.emplace_back(base::RealClock().SteadyNow() + delay_, hold);
  return RequestVerdict::Wait(hold);
}

AnswerVerdict Link::OnExecuted(const sandbox::RequestPtr& request,
                               const sandbox::Outcome& outcome) {
  if (IsFromBeside(*request)) return {};
  absl::MutexLock lock(&mu_);
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), request->number);
  if (found != numbers_.end() && *found == request->number) {
    sent_[static_cast<size_t>(found - numbers_.begin())].code = outcome.code;
  }
  if (const HoldPtr hold = HoldFor(WhatOf(*request), /*executed=*/true)) {
    return AnswerVerdict::Wait(hold);
  }
  if (state_ == LinkState::kRefused) return AnswerVerdict::Close();
  constexpr size_t kSomeBytes = 300;
  if (state_ == LinkState::kCut) return AnswerVerdict::Cut(kSomeBytes);
  return {};
}

}  // namespace tests
