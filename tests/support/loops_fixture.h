// The context of controllers whose control plane and members are fake servers.
#ifndef TESTS_SUPPORT_LOOPS_FIXTURE_H_
#define TESTS_SUPPORT_LOOPS_FIXTURE_H_

#include <optional>

#include "config/options.h"
#include "controllers/context/context.h"
#include "tests/support/members_fixture.h"
#include "works/work_status_writer.h"

namespace tests {

class LoopsFixture : public MembersFixture {
 public:
  explicit LoopsFixture(works::Repairs repairs = works::Repairs::kByObject)
      : MembersFixture(repairs) {}

  config::Options flags;
  works::Rechecks rechecks;
  kube::WatchedKinds kinds{cluster, clock};
  controllers::MemberInventory inventory{members};

  // The loops use members of this class, so they are ended first.
  ~LoopsFixture() override {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    manager.reset();
  }

  // REQUIRES: Make() was called.
  controllers::Context ContextWith(const interpreter::Interpreter& interpreter) {
    if (!status_.has_value()) status_.emplace(*manager);
    return {*manager, members, objects, inventory, *status_, rechecks, interpreter, kinds, flags};
  }
  controllers::Context Context() { return ContextWith(*chain); }

 private:
  std::optional<works::WorkStatusWriter> status_;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_LOOPS_FIXTURE_H_
