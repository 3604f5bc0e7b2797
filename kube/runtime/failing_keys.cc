#include "kube/runtime/failing_keys.h"

#include <algorithm>
#include <tuple>

#include "base/cut_text.h"
#include "base/release_room.h"

namespace kube {
namespace {

metrics::Gauge* GaugeOf(metrics::Registry* registry, const std::string& controller) {
  if (registry == nullptr) return nullptr;
  return &registry->GetGauge("karmada_controller_failing_keys",
                             "Number of keys whose last pass failed per controller",
                             {{"controller", controller}});
}

bool ComesFirst(const FailingKeys::Item& a, const FailingKeys::Item& b) {
  const bool a_unknown = a.error.empty(), b_unknown = b.error.empty();
  return std::tie(a_unknown, a.request) < std::tie(b_unknown, b.request);
}

}  // namespace

FailingKeys::FailingKeys(metrics::Registry* registry, const std::string& controller)
    : controller_(controller), gauge_(GaugeOf(registry, controller)) {}

void FailingKeys::Note(const Request& item, const absl::Status& error) {
  const absl::string_view text = error.message().empty() ? "no message" : error.message();
  absl::MutexLock lock(&mu_);
  if (closed_) return;
  const auto [at, is_new] = errors_.try_emplace(item);
  const bool had_text = !at->second.empty();
  if (had_text || with_error_ < kMostErrors) at->second = base::CutText(text, kErrorBytes);
  if (!had_text && !at->second.empty()) ++with_error_;
  if (is_new) Show();
}

void FailingKeys::Forget(const Request& item) {
  absl::MutexLock lock(&mu_);
  const auto found = errors_.find(item);
  if (found == errors_.end()) return;
  if (!found->second.empty()) --with_error_;
  errors_.erase(found);
  base::ReleaseRoom(errors_);
  Show();
}

void FailingKeys::Close() {
  absl::MutexLock lock(&mu_);
  errors_.clear();
  with_error_ = 0;
  closed_ = true;
  Show();
}

bool FailingKeys::Contains(const Request& item) const {
  absl::MutexLock lock(&mu_);
  return errors_.contains(item);
}

size_t FailingKeys::size() const {
  absl::MutexLock lock(&mu_);
  return errors_.size();
}

std::vector<FailingKeys::Item> FailingKeys::List(size_t most) const {
  std::vector<Item> items;
  {
    absl::MutexLock lock(&mu_);
    for (const bool is_known : {true, false}) {
      for (const auto& [request, error] : errors_) {
        if (items.size() < most && error.empty() != is_known) items.push_back({request, error});
      }
    }
  }
  std::sort(items.begin(), items.end(), ComesFirst);
  return items;
}

void FailingKeys::Show() {
  if (gauge_ != nullptr) gauge_->Set(static_cast<double>(errors_.size()));
}

}  // namespace kube
