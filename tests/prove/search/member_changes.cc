#include "tests/prove/search/member_changes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "base/threads.h"

namespace prove {
namespace {

const kube::Gvr kConfigMaps{"", "v1", "configmaps"};

}  // namespace

MemberChanges::MemberChanges(const SearchStep& step, SearchStage& stage,
                             std::function<void(size_t)> before)
    : step_(step), stage_(stage), before_(std::move(before)) {
  thread_ = base::StartThread("changes of members", [this] { Run(); });
}

MemberChanges::~MemberChanges() { thread_.join(); }

absl::Status MemberChanges::status() const {
  absl::MutexLock lock(&mu_);
  return status_;
}

void MemberChanges::Run() {
  size_t made = 0;
  for (const MemberChange& change : step_) {
    if (change.pause_ms > 0) absl::SleepFor(absl::Milliseconds(change.pause_ms));
    before_(made++);
    const absl::Status status = Make(change);
    absl::MutexLock lock(&mu_);
    status_.Update(base::Annotate(status, change.member, " ", change.ns, "/", change.name));
  }
  before_(made);
  done_ = true;
}

absl::Status MemberChanges::Make(const MemberChange& change) {
  using Kind = MemberChange::Kind;
  sandbox::ApiServer& server = stage_.member(change.member);
  absl::Status status;
  if (change.kind == Kind::kDelete || change.kind == Kind::kRecreate) {
    status = server.backend().Delete(kConfigMaps, {change.ns, change.name}, {}).status();
  }
  if (change.kind != Kind::kDelete) {
    status.Update(Put(change, change.kind != Kind::kUpdate));
  }
  stage_.history().Acknowledge(change.member, server.version());
  // A member that was restored may have what the workload does not know of.
  const bool otherwise = absl::IsNotFound(status) || absl::IsAlreadyExists(status);
  return otherwise ? absl::OkStatus() : status;
}

absl::Status MemberChanges::Put(const MemberChange& change, bool create) {
  sandbox::Backend& backend = stage_.member(change.member).backend();
  kube::Object object = kube::Object::Make({"", "v1", "ConfigMap"}, {change.ns, change.name});
  object.Set({"data", "moment"}, absl::StrCat(stage_.history().Moment()));
  return create ? backend.Create(kConfigMaps, std::move(object)).status()
                : backend.Update(kConfigMaps, std::move(object)).status();
}

}  // namespace prove
