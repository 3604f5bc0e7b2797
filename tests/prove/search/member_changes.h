// Makes the changes of a step, on a thread of its own, so that they meet the requests of
// karmada-search wherever those are.
#ifndef TESTS_PROVE_SEARCH_MEMBER_CHANGES_H_
#define TESTS_PROVE_SEARCH_MEMBER_CHANGES_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tests/prove/search/search_stage.h"
#include "tests/prove/search/search_workload.h"

namespace prove {

class MemberChanges {
 public:
  // Begins. `before` is called on the thread before each change, with how many have been made, and
  // once after the last one. REQUIRES: the arguments outlive the object, and time passes until it
  // is done.
  MemberChanges(const SearchStep& step, SearchStage& stage, std::function<void(size_t)> before);
  ~MemberChanges();
  MemberChanges(const MemberChanges&) = delete;

  bool done() const { return done_; }
  // Why a change could not be made.
  absl::Status status() const;

 private:
  void Run();
  absl::Status Make(const MemberChange& change);
  absl::Status Put(const MemberChange& change, bool create);

  const SearchStep& step_;
  SearchStage& stage_;
  const std::function<void(size_t)> before_;
  std::atomic<bool> done_ = false;
  mutable absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_MEMBER_CHANGES_H_
