#include "search/proxy/internal/event_texts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json.h"

namespace search {
namespace {

// What a text costs besides its bytes.
constexpr size_t kOverhead = 512;
constexpr absl::Duration kMaxAge = absl::Seconds(1);

}  // namespace

void EventTexts::Append(const Subject& subject, absl::string_view version, const Make& make,
                        std::string& out) {
  Key key(subject.object.get(), subject.columns.get(), subject.form);
  PartsPtr parts = Find(key, subject.object);
  if (parts == nullptr) {
    const std::string text = make(place_);
    parts = std::make_shared<const Parts>(absl::StrSplit(text, json::Write(place_)));
    Keep(std::move(key),
         {subject.object, subject.columns, parts, text.size() + kOverhead, clock_.SteadyNow()});
  }
  absl::StrAppend(&out, absl::StrJoin(*parts, json::Write(version)));
}

EventTexts::PartsPtr EventTexts::Find(const Key& key, const kube::ObjectPtr& object) const {
  absl::MutexLock lock(&mu_);
  const auto found = kept_.find(key);
  if (found == kept_.end() || clock_.SteadyNow() - found->second.at > kMaxAge) return nullptr;
  const bool same =
      !found->second.object.owner_before(object) && !object.owner_before(found->second.object);
  return same ? found->second.parts : nullptr;
}

void EventTexts::Keep(Key key, Kept kept) {
  std::vector<Kept> dropped;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  const auto [place, is_new] = kept_.try_emplace(key);
  bytes_ += kept.bytes - place->second.bytes;
  dropped.push_back(std::exchange(place->second, std::move(kept)));
  if (is_new) order_.push_back(std::move(key));
  const auto is_old = [this](const Kept& text) ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return clock_.SteadyNow() - text.at > kMaxAge;
  };
  while (!order_.empty() && (bytes_ > max_bytes_ || is_old(kept_.at(order_.front())))) {
    auto oldest = kept_.extract(order_.front());
    bytes_ -= oldest.mapped().bytes;
    dropped.push_back(std::move(oldest.mapped()));
    order_.pop_front();
  }
}

}  // namespace search
