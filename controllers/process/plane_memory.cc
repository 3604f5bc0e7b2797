#include "controllers/process/plane_memory.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/runtime/periodic.h"

namespace controllers {
namespace {

absl::Status FullError(const base::ByteBudget& budget) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "what the control plane has for this cluster takes more than the ", budget.limit() >> 20,
      " MiB of memory that may be kept of it. Find out what fills the cluster's "
      "execution namespace, or raise --cluster-memory-mib and the memory limit"));
}

class Watch : public kube::Periodic {
 public:
  Watch(std::shared_ptr<base::ByteBudget> budget, const base::StopToken& is_full,
        const base::Clock& clock)
      : Periodic(clock),
        budget_(std::move(budget)),
        is_full_(is_full),
        wake_(is_full, [this] { Wake(); }) {}

  std::string name() const override { return "memory of the control plane"; }

 protected:
  absl::Duration Tick(const base::StopToken&) override {
    if (is_full_.stop_requested()) EndWith(FullError(*budget_));
    return absl::InfiniteDuration();
  }

 private:
  const std::shared_ptr<base::ByteBudget> budget_;
  const base::StopToken is_full_;
  const base::StopCallback<std::function<void()>> wake_;
};

}  // namespace

PlaneMemory::PlaneMemory(int64_t bytes, std::shared_ptr<base::TotalBytes> total)
    : budget_(std::make_shared<base::ByteBudget>(bytes, std::move(total))) {}

void PlaneMemory::Limit(kube::InformerSet& informers) const {
  informers.SetBudget(budget_, [full = is_full_]() mutable { full.request_stop(); });
}

absl::Status PlaneMemory::Guard(
    const base::StopToken& stop,
    absl::FunctionRef<absl::Status(const base::StopToken&)> begin) const {
  base::StopSource either;
  const auto end = [&either] { either.request_stop(); };
  const base::StopCallback on_stop(stop, end);
  const base::StopCallback on_full(is_full_.get_token(), end);
  absl::Status result = begin(either.get_token());
  const bool is_full = is_full_.stop_requested() && !stop.stop_requested();
  return is_full ? FullError(*budget_) : result;
}

std::unique_ptr<kube::Runnable> PlaneMemory::NewWatch(const base::Clock& clock) const {
  return std::make_unique<Watch>(budget_, is_full_.get_token(), clock);
}

}  // namespace controllers
