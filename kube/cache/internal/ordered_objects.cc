// Objects in the order of their keys as etcd has it, "namespace/name" compared byte by byte, in
// which lists of API servers are. The order is that of the joined text, although the parts are
// compared separately: a namespace that another one begins with is not simply the smaller one.
// Sizes are kept for each namespace, for counts and for remainingItemCount.

#include "kube/cache/internal/ordered_objects.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kube::internal {
namespace {

bool IsIn(const Object& object, absl::string_view ns) { return ns.empty() || object.ns() == ns; }

// The first place of the selection.
ObjectKey BeginOf(const OrderedObjects::Selection& selection) {
  return selection.from == ObjectKey() ? ObjectKey{selection.ns, ""} : selection.from;
}

}  // namespace

int CompareKeys(const KeyView& a, const KeyView& b) {
  const size_t common = std::min(a.ns.size(), b.ns.size());
  const int order = common == 0 ? 0 : std::memcmp(a.ns.data(), b.ns.data(), common);
  if (order != 0) return order;
  if (a.ns.size() == b.ns.size()) return a.name.compare(b.name);
  const bool a_is_longer = a.ns.size() > common;
  // What follows the shorter namespace is '/', which no namespace contains.
  const char next = a_is_longer ? a.ns[common] : b.ns[common];
  return (next < '/') == a_is_longer ? -1 : 1;
}

void OrderedObjects::Put(const ObjectPtr& object) {
  const auto [it, added] = objects_.insert(object);
  if (added) {
    ++sizes_[std::string(object->ns())];
  } else {
    // The key is equal, so the place is right.
    const_cast<ObjectPtr&>(*it) = object;
  }
}

void OrderedObjects::Erase(const KeyView& key) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) return;
  const auto size = sizes_.find(key.ns);
  if (--size->second == 0) sizes_.erase(size);
  objects_.erase(it);
}

ObjectPtr OrderedObjects::Find(const KeyView& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : *it;
}

OrderedObjects::Set::const_iterator OrderedObjects::Begin(const Selection& selection) const {
  const ObjectKey from = BeginOf(selection);
  return objects_.lower_bound(KeyView(from));
}

OrderedObjects::Page OrderedObjects::Read(const Selection& selection) const {
  Page page;
  auto it = Begin(selection);
  for (; it != objects_.end() && IsIn(**it, selection.ns); ++it) {
    if (selection.limit > 0 && page.objects.size() == selection.limit) break;
    page.objects.push_back(*it);
  }
  if (it == objects_.end() || !IsIn(**it, selection.ns)) return page;
  const auto passed = std::distance(Begin({.ns = selection.ns}), it);
  page.remaining = size(selection.ns) - static_cast<size_t>(passed);
  return page;
}

// Both are in the order of their keys, so they are merged up to the limit. What follows is not
// looked at: it is as many as there are now, but for those that were added or removed since.
OrderedObjects::Page OrderedObjects::ReadFormer(const Selection& selection,
                                                const Former& former) const {
  Page page;
  const ObjectKey from = BeginOf(selection);
  auto now = Begin(selection);
  auto then = former.lower_bound(KeyView(from));
  const auto ends_now = [&] { return now == objects_.end() || !IsIn(**now, selection.ns); };
  const auto ends_then = [&] {
    return then == former.end() || (!selection.ns.empty() && then->first.ns != selection.ns);
  };
  while (!ends_now() || !ends_then()) {
    if (selection.limit > 0 && page.objects.size() == selection.limit) break;
    const int order = ends_now() ? -1 : ends_then() ? 1 : CompareKeys(then->first, KeyView(*now));
    // A former state takes the place of the present one; nullptr says that the object did not
    // exist.
    const ObjectPtr& object = order > 0 ? *now : then->second;
    if (object != nullptr) page.objects.push_back(object);
    if (order >= 0) ++now;
    if (order <= 0) ++then;
  }
  if (ends_now() && ends_then()) return page;
  const auto passed = std::distance(Begin({.ns = selection.ns}), now);
  auto remaining = static_cast<int64_t>(size(selection.ns)) - passed;
  for (; !ends_then(); ++then) {
    remaining += static_cast<int64_t>(then->second != nullptr);
    remaining -= static_cast<int64_t>(objects_.contains(then->first));
  }
  page.remaining = static_cast<size_t>(remaining);
  return page;
}

size_t OrderedObjects::size(absl::string_view ns) const {
  if (ns.empty()) return objects_.size();
  const auto size = sizes_.find(ns);
  return size == sizes_.end() ? 0 : size->second;
}

}  // namespace kube::internal
