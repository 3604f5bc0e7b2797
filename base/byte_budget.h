// A limit for the memory that belongs together, such as what the objects of one server take.
//
//   const auto budget = std::make_shared<ByteBudget>(256 << 20);
//   ByteBudget::Charge charge(budget);
//   charge.Resize(buffer.size());
//   if (budget->IsOver()) ...
#ifndef BASE_BYTE_BUDGET_H_
#define BASE_BYTE_BUDGET_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace base {

// The memory that several budgets have together. None of them may take what the others need: each
// has an equal part in any case, and what nobody has taken is for whoever comes first. Thread-safe.
class TotalBytes {
 public:
  explicit TotalBytes(int64_t limit) : limit_(limit) {}
  TotalBytes(const TotalBytes&) = delete;

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_; }

 private:
  friend class ByteBudget;

  // Returns how much a budget may have in use that has `used`.
  int64_t MostFor(int64_t used) const {
    return std::max(limit_ / std::max(budgets_.load(), 1), used + limit_ - used_);
  }

  const int64_t limit_;
  std::atomic<int64_t> used_ = 0;
  std::atomic<int> budgets_ = 0;
};

// Counts and refuses nothing: whoever takes looks afterwards whether the budget is exceeded, and
// gives back what is too much. Thread-safe.
class ByteBudget {
 public:
  // `total`, if there is one, limits it further.
  explicit ByteBudget(int64_t limit, std::shared_ptr<TotalBytes> total = nullptr)
      : limit_(limit), total_(std::move(total)) {
    if (total_ != nullptr) ++total_->budgets_;
  }
  ~ByteBudget() {
    if (total_ == nullptr) return;
    total_->used_ -= used_;
    --total_->budgets_;
  }
  ByteBudget(const ByteBudget&) = delete;

  // Returns what may be in use now; with a total limit it changes with what others use.
  int64_t limit() const {
    return total_ == nullptr ? limit_ : std::min(limit_, total_->MostFor(used_));
  }
  int64_t used() const { return used_; }
  bool IsOver() const { return used_ > limit(); }
  // For many small parts, each of which knows its own size; others use a Charge. Whoever takes
  // gives the same number back.
  void Take(int64_t bytes) {
    used_ += bytes;
    if (total_ != nullptr) total_->used_ += bytes;
  }
  void Give(int64_t bytes) { Take(-bytes); }

  class Charge;

 private:
  const int64_t limit_;
  const std::shared_ptr<TotalBytes> total_;
  std::atomic<int64_t> used_ = 0;
};

// Bytes that are taken until the charge ends. Without a budget nothing is counted. Not thread-safe.
class ByteBudget::Charge {
 public:
  explicit Charge(std::shared_ptr<ByteBudget> budget, size_t bytes = 0)
      : budget_(std::move(budget)) {
    Resize(bytes);
  }
  ~Charge() { Resize(0); }
  Charge(const Charge&) = delete;

  void Resize(size_t bytes) {
    if (budget_ == nullptr) return;
    budget_->Take(static_cast<int64_t>(bytes) - bytes_);
    bytes_ = static_cast<int64_t>(bytes);
  }
  bool IsOver() const { return budget_ != nullptr && budget_->IsOver(); }

 private:
  const std::shared_ptr<ByteBudget> budget_;
  int64_t bytes_ = 0;
};

}  // namespace base

#endif  // BASE_BYTE_BUDGET_H_
