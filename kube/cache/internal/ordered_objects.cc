#include "kube/cache/internal/ordered_objects.h"

#include <algorithm>
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
  const auto size = sizes_.find(selection.ns);
  const size_t all = selection.ns.empty() ? objects_.size() : size->second;
  const auto passed = std::distance(Begin({.ns = selection.ns}), it);
  page.remaining = all - static_cast<size_t>(passed);
  return page;
}

// Both are in the order of their keys, so they are merged up to the limit; what follows is counted.
OrderedObjects::Page OrderedObjects::ReadFormer(const Selection& selection,
                                                const Former& former) const {
  Page page;
  const auto take = [&](const ObjectPtr& object) {
    if (selection.limit > 0 && page.objects.size() == selection.limit) {
      ++page.remaining;
    } else {
      page.objects.push_back(object);
    }
  };
  const ObjectKey from = BeginOf(selection);
  auto then = former.lower_bound(KeyView(from));
  const auto end = [&] {
    return then == former.end() || (!selection.ns.empty() && then->first.ns != selection.ns);
  };
  for (auto it = Begin(selection); it != objects_.end() && IsIn(**it, selection.ns); ++it) {
    int order = 1;
    while (!end() && (order = CompareKeys(then->first, KeyView(*it))) < 0) {
      if (then->second != nullptr) take(then->second);
      ++then;
    }
    if (end() || order > 0) {
      take(*it);
    } else {
      if (then->second != nullptr) take(then->second);
      ++then;
    }
  }
  for (; !end(); ++then) {
    if (then->second != nullptr) take(then->second);
  }
  return page;
}

}  // namespace kube::internal
