// Tokens and objects are remembered by their hashes, which differ from process to process, so that
// a server cannot choose objects that are taken for one another.

#include "kube/client/list_budget.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {

absl::Status GivenUp(const absl::AlphaNum& reason) {
  return absl::FailedPreconditionError(absl::StrCat("the list ", reason, "; it was given up"));
}

}  // namespace

absl::Status ListBudget::Spend(const ListPage& page) {
  const std::string& token = page.continue_token;
  if (token.empty()) return absl::OkStatus();  // It has ended.
  bool has_new = false;
  for (const Object& object : page.items) {
    has_new |= objects_.insert(absl::HashOf(object.ns(), object.name())).second;
  }
  barren_pages_ = has_new ? 0 : barren_pages_ + 1;
  const bool is_new_token = tokens_.insert(absl::HashOf(token)).second;
  // Some servers remember themselves where a list is, and always send the same token.
  if (!is_new_token && !has_new) {
    return GivenUp("repeats itself: its continue token has come before");
  }
  if (barren_pages_ >= kMostBarrenPages) {
    return GivenUp(absl::StrCat("has had ", kMostBarrenPages, " pages without a new object"));
  }
  if (clock_->SteadyNow() - start_ <= kLongest) return absl::OkStatus();
  return GivenUp(absl::StrCat("has not ended after ", absl::FormatDuration(kLongest)));
}

size_t ListBudget::bytes() const {
  return (tokens_.capacity() + objects_.capacity()) * (sizeof(size_t) + 1);
}

}  // namespace kube
