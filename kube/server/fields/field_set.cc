// The operations walk two trees at once. Node() makes the node of a result: none when it is neither
// in the set nor has anything below it, so that a tree has no branches without fields.

#include "kube/server/fields/field_set.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace kube::server {
namespace {

constexpr absl::string_view kField = "f:", kKey = "k:", kItem = "v:", kIndex = "i:";

using Node = std::optional<json::Value>;

Node MakeNode(bool in_set, json::Value below) {
  if (below.empty()) return in_set ? Node(json::Value::Object()) : std::nullopt;
  if (in_set) below.Set(kSelf, json::Value::Object());
  return below;
}

bool IsIn(const json::Value* node) { return node != nullptr && IsInSet(*node); }

void SetNode(absl::string_view name, Node node, json::Value& to) {
  if (node.has_value()) to.Set(name, *std::move(node));
}

// Returns what is below a node of either.
json::Value UnionBelow(const json::Value& a, const json::Value& b) {
  // Both are the same value in memory, as with most subtrees of two versions of an object.
  if (a.SharesWith(b)) return a;
  json::Value out = a;
  out.Erase(kSelf);
  for (const json::Member& member : b.members()) {
    if (member.name() == kSelf) continue;
    const json::Value* mine = a.Find(member.name());
    if (mine == nullptr) {
      out.Set(member.name(), member.value);
      continue;
    }
    SetNode(member.name(),
            MakeNode(IsInSet(*mine) || IsInSet(member.value), UnionBelow(*mine, member.value)),
            out);
  }
  return out;
}

json::Value IntersectionBelow(const json::Value& a, const json::Value& b) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : a.members()) {
    const json::Value* other = member.name() == kSelf ? nullptr : b.Find(member.name());
    if (other == nullptr) continue;
    SetNode(
        member.name(),
        MakeNode(IsInSet(member.value) && IsInSet(*other), IntersectionBelow(member.value, *other)),
        out);
  }
  return out;
}

json::Value DifferenceBelow(const json::Value& a, const json::Value& b) {
  if (b.empty()) {
    json::Value all = a;
    all.Erase(kSelf);
    return all;
  }
  json::Value out = json::Value::Object();
  for (const json::Member& member : a.members()) {
    if (member.name() == kSelf) continue;
    const json::Value* other = b.Find(member.name());
    if (other == nullptr) {
      out.Set(member.name(), member.value);
      continue;
    }
    SetNode(member.name(),
            MakeNode(IsInSet(member.value) && !IsIn(other), DifferenceBelow(member.value, *other)),
            out);
  }
  return out;
}

void Visit(const json::Value& node, PathOfField& path,
           absl::FunctionRef<void(const PathOfField&)> visit) {
  const auto at = [&](const json::Member& member, const auto& act) {
    if (member.name() == kSelf) return;
    path.emplace_back(member.name());
    act(member.value);
    path.pop_back();
  };
  for (const json::Member& member : node.members()) {
    at(member, [&](const json::Value& value) {
      if (IsInSet(value)) visit(path);
    });
  }
  for (const json::Member& member : node.members()) {
    at(member, [&](const json::Value& value) { Visit(value, path, visit); });
  }
}

// Returns the name in its form; "" when it has none.
std::string ReadStep(absl::string_view name) {
  absl::string_view rest = name;
  if (absl::StartsWith(name, kField) || absl::StartsWith(name, kIndex)) return std::string(name);
  if (absl::ConsumePrefix(&rest, kKey)) {
    const auto keys = json::Parse(rest);
    return keys.ok() && keys->is_object() ? KeyedItemStep(*keys) : "";
  }
  if (absl::ConsumePrefix(&rest, kItem)) {
    const auto item = json::Parse(rest);
    return item.ok() ? SetItemStep(*item) : "";
  }
  return "";
}

json::Value ReadBelow(const json::Value& given) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : given.members()) {
    const std::string step = member.name() == kSelf ? "" : ReadStep(member.name());
    if (step.empty()) continue;
    SetNode(step, MakeNode(IsInSet(member.value), ReadBelow(member.value)), out);
  }
  return out;
}

std::string StepText(absl::string_view step) {
  if (absl::ConsumePrefix(&step, kField)) return absl::StrCat(".", step);
  if (absl::ConsumePrefix(&step, kItem)) return absl::StrCat("[=", step, "]");
  if (!absl::ConsumePrefix(&step, kKey)) return absl::StrCat("[", step, "]");
  const json::Value keys = json::Parse(step).value_or(json::Value());
  return absl::StrCat("[",
                      absl::StrJoin(keys.members(), ",",
                                    [](std::string* out, const json::Member& key) {
                                      absl::StrAppend(out, key.name(), "=", json::Write(key.value));
                                    }),
                      "]");
}

}  // namespace

bool IsInSet(const json::Value& node) { return node.empty() || node.Has(kSelf); }

bool HasFieldsBelow(const json::Value& node) { return node.size() > (node.Has(kSelf) ? 1U : 0U); }

std::string FieldStep(absl::string_view name) { return absl::StrCat(kField, name); }

std::string SetItemStep(const json::Value& item) {
  return absl::StrCat(kItem, json::Write(item, {.html_escape = true}));
}

std::string KeyedItemStep(const json::Value& keys) {
  return absl::StrCat(kKey, json::Write(keys, {.html_escape = true}));
}

absl::string_view NameOfStep(absl::string_view step) {
  return absl::ConsumePrefix(&step, kField) ? step : absl::string_view();
}

std::string PathText(const PathOfField& path) {
  std::string out;
  for (const std::string& step : path) out += StepText(step);
  return out;
}

FieldSet::FieldSet(json::Value root) : root_(std::move(root)) {
  if (!root_.is_object()) root_ = json::Value::Object();
}

FieldSet FieldSet::Read(const json::Value& fields_v1) { return FieldSet(ReadBelow(fields_v1)); }

void FieldSet::Insert(const PathOfField& path) {
  json::Value* at = &root_;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool known = at->Has(path[i]);
    const bool last = i + 1 == path.size();
    json::Value& next = at->Mutable(path[i]);
    // An empty node is in the set; one with others below it is so only when it says so itself.
    if (!known) {
      next = json::Value::Object();
    } else if ((!last && next.empty()) || (last && !next.empty())) {
      next.Set(kSelf, json::Value::Object());
    }
    at = &next;
  }
}

void FieldSet::EraseTree(const PathOfField& path) {
  if (path.empty()) return;
  std::vector<absl::string_view> names(path.begin(), path.end());
  if (!root_.Erase(json::Path(names))) return;
  // What contained nothing else is not a branch any more.
  for (names.pop_back(); !names.empty(); names.pop_back()) {
    json::Value& left = root_.Mutable(json::Path(names));
    if (!left.empty()) {
      if (!HasFieldsBelow(left)) left = json::Value::Object();
      return;
    }
    root_.Erase(json::Path(names));
  }
}

bool FieldSet::Has(const PathOfField& path) const {
  const json::Value* at = &root_;
  for (const std::string& step : path) {
    at = at->Find(step);
    if (at == nullptr) return false;
  }
  return !path.empty() && IsInSet(*at);
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  if (empty()) return other;
  return FieldSet(UnionBelow(root_, other.root_));
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  return FieldSet(IntersectionBelow(root_, other.root_));
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  if (other.empty()) return *this;
  return FieldSet(DifferenceBelow(root_, other.root_));
}

void FieldSet::ForEach(absl::FunctionRef<void(const PathOfField&)> visit) const {
  PathOfField path;
  Visit(root_, path, visit);
}

}  // namespace kube::server
