// Merges what is applied into the present state, checks it, and removes fields (declared in
// typed_walks.h), as structured-merge-diff's mergingWalker, validatingObjectWalker and
// removingWalker do.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/server/fields/typed_walks.h"

namespace kube::server {
namespace {

using Result = std::optional<json::Value>;

bool IsListOrNothing(const json::Value* v) { return v == nullptr || v->is_array() || v->is_null(); }
bool IsMapOrNothing(const json::Value* v) { return v == nullptr || v->is_object() || v->is_null(); }
bool IsBare(const json::Value* v) { return v == nullptr || v->empty(); }

Result Merge(const json::Value* live, const json::Value* config, const FieldType& type);

// One of two lists that are merged.
struct Side {
  std::vector<std::string> steps;
  std::map<std::string, const json::Value*> items;  // Null for those that nothing tells apart.
  std::vector<const json::Value*> in_order;

  static Side Of(const json::Value* list, const FieldType& type) {
    Side side;
    if (list == nullptr) return side;
    for (const json::Value& item : list->items()) {
      const auto step = type.StepOf(item);
      if (!step.ok()) continue;
      const bool is_new = side.items.emplace(*step, &item).second;
      // Two items with one key: neither can be merged with an item of the other side.
      if (!is_new) side.items[*step] = nullptr;
      side.steps.push_back(*step);
      side.in_order.push_back(&item);
    }
    return side;
  }
  bool Has(const std::string& step) const { return items.count(step) > 0; }
  const json::Value* Find(const std::string& step) const {
    const auto found = items.find(step);
    return found == items.end() ? nullptr : found->second;
  }
};

// Both orders are kept as far as they agree; that of the configuration wins.
class ListMerge {
 public:
  ListMerge(const json::Value* live, const json::Value* config, const FieldType& type)
      : live_(Side::Of(live, type)), config_(Side::Of(config, type)), item_(type.Item()) {
    for (const std::string& step : config_.steps) {
      if (live_.Has(step)) shared_.push_back(step);
    }
  }

  Result Run() {
    size_t l = 0, r = 0;
    while (l < live_.steps.size() || r < config_.steps.size()) {
      if (l < live_.steps.size() && r < config_.steps.size()) {
        if (live_.steps[l] == config_.steps[r]) {
          TakeConfigured(config_.steps[r]);
          ++next_shared_;
          ++l;
          ++r;
          continue;
        }
        if (config_.Has(live_.steps[l]) && HasShared() && shared_[next_shared_] != live_.steps[l]) {
          ++l;  // It is shared, but is not the next one of those.
          continue;
        }
      }
      if (l < live_.steps.size()) {
        if (!config_.Has(live_.steps[l])) {
          Take(Merge(live_.in_order[l], nullptr, item_));
          ++l;
          continue;
        }
        if (taken_.count(live_.steps[l]) > 0) ++l;
      }
      if (r < config_.steps.size()) {
        const std::string& step = config_.steps[r];
        TakeConfigured(step);
        ++r;
        if (HasShared() && shared_[next_shared_] == step) ++next_shared_;
      }
    }
    return out_.empty() ? std::nullopt : Result(json::Value::OfItems(std::move(out_)));
  }

 private:
  bool HasShared() const { return next_shared_ < shared_.size(); }
  void Take(Result item) {
    if (item.has_value()) out_.push_back(*std::move(item));
  }
  void TakeConfigured(const std::string& step) {
    taken_.insert(step);
    Take(Merge(live_.Find(step), config_.Find(step), item_));
  }

  Side live_, config_;
  FieldType item_;
  std::vector<std::string> shared_;
  size_t next_shared_ = 0;
  std::set<std::string> taken_;
  std::vector<json::Value> out_;
};

Result MergeMaps(const json::Value* live, const json::Value* config, const FieldType& type) {
  json::Value out = json::Value::Object();
  if (live != nullptr && live->is_object()) out = *live;
  if (config == nullptr || !config->is_object()) return out;
  for (const json::Member& member : config->members()) {
    const json::Value* present = live == nullptr ? nullptr : live->Find(member.name());
    Result merged = Merge(present, &member.value, type.Member(member.name()).type);
    if (merged.has_value()) {
      out.Set(member.name(), *std::move(merged));
    } else {
      out.Erase(member.name());
    }
  }
  return out;
}

// At least one of them is there.
Result Merge(const json::Value* live, const json::Value* config, const FieldType& type) {
  // What the configuration does not mention stays.
  if (config == nullptr) return *live;
  const bool maps = IsMapOrNothing(live) && IsMapOrNothing(config);
  const bool is_map = maps && (config->is_object() || (live != nullptr && live->is_object()));
  if (is_map && !type.IsAtomicMap() && !(IsBare(live) && IsBare(config))) {
    return MergeMaps(live, config, type);
  }
  const bool lists = IsListOrNothing(live) && IsListOrNothing(config);
  if (lists && !is_map && !type.IsAtomicList() && !(IsBare(live) && IsBare(config))) {
    return ListMerge(live, config, type).Run();
  }
  return *config;
}

Result Remove(const json::Value& value, const json::Value& fields, const FieldType& type);

// Returns a part without what the node of the set says; nullopt when it is removed or empty then.
Result RemovePart(const json::Value& part, const json::Value* node, const FieldType& type) {
  if (node == nullptr) return part;
  if (IsInSet(*node)) return std::nullopt;
  return Remove(part, *node, type);
}

Result Remove(const json::Value& value, const json::Value& fields, const FieldType& type) {
  if (value.is_object()) {
    if (value.empty() || type.IsAtomicMap()) return std::nullopt;
    json::Value out = value;
    for (const json::Member& member : value.members()) {
      const json::Value* node = fields.Find(FieldStep(member.name()));
      if (node == nullptr) continue;
      Result left = RemovePart(member.value, node, type.Member(member.name()).type);
      if (left.has_value()) {
        out.Set(member.name(), *std::move(left));
      } else {
        out.Erase(member.name());
      }
    }
    return out.empty() ? std::nullopt : Result(std::move(out));
  }
  if (!value.is_array()) return value;
  if (value.empty() || type.IsAtomicList()) return std::nullopt;
  std::vector<json::Value> out;
  for (const json::Value& item : value.items()) {
    const auto step = type.StepOf(item);
    Result left = step.ok() ? RemovePart(item, fields.Find(*step), type.Item()) : Result(item);
    if (left.has_value()) out.push_back(*std::move(left));
  }
  return out.empty() ? std::nullopt : Result(json::Value::OfItems(std::move(out)));
}

class Check {
 public:
  absl::Status Run(const json::Value& value, const FieldType& type) {
    Visit(value, type);
    if (errors_.empty()) return absl::OkStatus();
    if (errors_.size() == 1) return absl::InvalidArgumentError(errors_[0]);
    return absl::InvalidArgumentError(absl::StrCat("errors:\n  ", absl::StrJoin(errors_, "\n  ")));
  }

 private:
  void Visit(const json::Value& value, const FieldType& type) {
    using Form = FieldType::Form;
    const Form form = type.form();
    if (value.is_null()) return;
    if (form == Form::kScalar && (value.is_object() || value.is_array())) {
      Refuse(absl::StrCat("expected scalar, got ", json::Write(value)));
    } else if (form == Form::kMap && !value.is_object()) {
      Refuse(absl::StrCat("expected map, got &{", json::Write(value), "}"));
    } else if (form == Form::kList && !value.is_array()) {
      Refuse(absl::StrCat("expected list, got &{", json::Write(value), "}"));
    } else if (value.is_object()) {
      for (const json::Member& member : value.members()) {
        const FieldType::MemberType of = type.Member(member.name());
        path_.push_back(FieldStep(member.name()));
        if (of.known) {
          Visit(member.value, of.type);
        } else {
          Refuse("field not declared in schema");
        }
        path_.pop_back();
      }
    } else if (value.is_array()) {
      Items(value, type);
    }
  }

  void Items(const json::Value& list, const FieldType& type) {
    std::set<std::string> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      std::string place = absl::StrCat("i:", i);
      if (!type.IsAtomicList()) {
        const auto step = type.StepOf(list.At(i));
        if (!step.ok()) {
          Refuse(absl::StrCat("element ", i, ": ", step.status().message()));
          continue;
        }
        place = *step;
        if (!seen.insert(place).second) {
          Refuse(absl::StrCat("duplicate entries for key ", PathText({place})));
        }
      }
      path_.push_back(std::move(place));
      Visit(list.At(i), type.Item());
      path_.pop_back();
    }
  }

  void Refuse(absl::string_view why) {
    errors_.push_back(absl::StrCat(PathText(path_), ": ", why));
  }

  PathOfField path_;
  std::vector<std::string> errors_;
};

json::Value WithNamed(const json::Value& fields, const FieldType& type) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : fields.members()) {
    if (member.name() == kSelf) continue;
    if (!HasFieldsBelow(member.value)) {
      out.Set(member.name(), member.value);
      continue;
    }
    const absl::string_view name = NameOfStep(member.name());
    const FieldType::MemberType of =
        name.empty() ? FieldType::MemberType{type.Item(), true, false} : type.Member(name);
    json::Value node = WithNamed(member.value, of.type);
    const bool is_named = of.named && of.known;
    if (is_named || IsInSet(member.value)) node.Set(kSelf, json::Value::Object());
    out.Set(member.name(), std::move(node));
  }
  return out;
}

}  // namespace

json::Value Merged(const json::Value& live, const json::Value& config, const FieldType& type) {
  return Merge(&live, &config, type).value_or(json::Value::Object());
}

json::Value WithoutFields(const json::Value& value, const FieldSet& fields, const FieldType& type) {
  if (fields.empty()) return value;
  return Remove(value, fields.root(), type).value_or(json::Value::Object());
}

FieldSet WithNamedFields(const FieldSet& fields, const FieldType& type) {
  return FieldSet(WithNamed(fields.root(), type));
}

absl::Status CheckApplicable(const json::Value& value, const FieldType& type) {
  return Check().Run(value, type);
}

}  // namespace kube::server
