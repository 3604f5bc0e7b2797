// A number of bytes that many may use together. Private to base/.
#ifndef BASE_INTERNAL_BYTE_BUDGET_H_
#define BASE_INTERNAL_BYTE_BUDGET_H_

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace base::internal {

// Thread-safe.
class ByteBudget {
 public:
  // Counts for as long as it is held; it may outlive the budget.
  using Share = std::shared_ptr<const void>;

  explicit ByteBudget(size_t bytes) : left_(std::make_shared<Left>(bytes)) {}

  // Returns nullptr when fewer bytes are left.
  Share Take(size_t bytes) {
    if (!left_->Take(bytes)) return nullptr;
    return Share(left_.get(), [left = left_, bytes](const void*) { left->Return(bytes); });
  }

 private:
  class Left {
   public:
    explicit Left(size_t bytes) : bytes_(bytes) {}
    bool Take(size_t bytes) {
      absl::MutexLock lock(&mu_);
      if (bytes > bytes_) return false;
      bytes_ -= bytes;
      return true;
    }
    void Return(size_t bytes) {
      absl::MutexLock lock(&mu_);
      bytes_ += bytes;
    }

   private:
    absl::Mutex mu_;
    size_t bytes_ ABSL_GUARDED_BY(mu_);
  };

  const std::shared_ptr<Left> left_;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_BYTE_BUDGET_H_
