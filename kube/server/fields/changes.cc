// Compares two states of an object, as structured-merge-diff's compareWalker does (declared in
// typed_walks.h). It goes through both at once; a pointer is null where a state has nothing. Parts
// that both share are equal and not looked at.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/server/fields/typed_walks.h"

namespace kube::server {
namespace {

bool HasItems(const json::Value* v) { return v != nullptr && v->is_array() && !v->empty(); }

class Comparison {
 public:
  FieldChanges Run(const json::Value& before, const json::Value& after, const FieldType& type) {
    Compare(&before, &after, type);
    return std::move(changes_);
  }

 private:
  // REQUIRES: not both are null.
  void Compare(const json::Value* before, const json::Value* after, const FieldType& type) {
    // What a write has not touched is shared, so that only what differs is walked through.
    if (before != nullptr && after != nullptr && before->SharesWith(*after)) return;
    bool is_leaf = true;
    if (AreMaps(before, after)) {
      is_leaf = type.IsAtomicMap();
      if (!is_leaf) is_leaf = !Members(before, after, type);
    } else if (HasItems(before) || HasItems(after)) {
      is_leaf = type.IsAtomicList() || AreOfTwoForms(before, after);
      if (!is_leaf) Items(before, after, type);
    }
    if (before == nullptr) {
      changes_.added.Insert(path_);
    } else if (after == nullptr) {
      changes_.removed.Insert(path_);
    } else if (is_leaf && *before != *after) {
      changes_.modified.Insert(path_);
    }
  }

  // An object and a list, or the like, which only values without a type can be.
  static bool AreOfTwoForms(const json::Value* before, const json::Value* after) {
    if (before == nullptr || after == nullptr) return false;
    const bool lists =
        (before->is_array() || before->is_null()) && (after->is_array() || after->is_null());
    return !lists;
  }

  static bool AreMaps(const json::Value* before, const json::Value* after) {
    const auto may_be = [](const json::Value* v) {
      return v == nullptr || v->is_object() || v->is_null();
    };
    const bool one_is =
        (before != nullptr && before->is_object()) || (after != nullptr && after->is_object());
    return one_is && may_be(before) && may_be(after);
  }

  // Returns false when neither has members, which makes the object a field itself.
  bool Members(const json::Value* before, const json::Value* after, const FieldType& type) {
    std::map<std::string, std::pair<const json::Value*, const json::Value*>, std::less<>> members;
    const auto collect = [&](const json::Value* from, auto side) {
      if (from == nullptr || !from->is_object()) return;
      for (const json::Member& m : from->members()) {
        members[std::string(m.name())].*side = &m.value;
      }
      type.ForEachImplied([&](absl::string_view name, const json::Value& implied) {
        const json::Value*& slot = members[std::string(name)].*side;
        if (slot == nullptr) slot = &implied;
      });
    };
    using Sides = std::pair<const json::Value*, const json::Value*>;
    collect(before, &Sides::first);
    collect(after, &Sides::second);
    for (const auto& [name, sides] : members) {
      path_.push_back(FieldStep(name));
      Compare(sides.first, sides.second, type.Member(name).type);
      path_.pop_back();
    }
    return !members.empty();
  }

  using Found = std::map<std::string, std::vector<const json::Value*>>;
  static Found ByStep(const json::Value* list, const FieldType& type) {
    Found out;
    if (list == nullptr) return out;
    for (const json::Value& item : list->items()) {
      const auto step = type.StepOf(item);
      if (step.ok()) out[*step].push_back(&item);
    }
    return out;
  }

  void Items(const json::Value* before, const json::Value* after, const FieldType& type) {
    const Found old_items = ByStep(before, type), new_items = ByStep(after, type);
    std::set<std::string> steps;
    for (const Found* found : {&old_items, &new_items}) {
      for (const auto& entry : *found) steps.insert(entry.first);
    }
    const FieldType item_type = type.Item();
    const auto of = [](const Found& found, const std::string& step) {
      const auto it = found.find(step);
      return it == found.end() ? std::vector<const json::Value*>() : it->second;
    };
    for (const std::string& step : steps) {
      path_.push_back(step);
      ItemsOfStep(of(old_items, step), of(new_items, step), item_type);
      path_.pop_back();
    }
  }

  // Items that nothing tells apart are one field.
  void ItemsOfStep(const std::vector<const json::Value*>& before,
                   const std::vector<const json::Value*>& after, const FieldType& type) {
    const auto one = [](const std::vector<const json::Value*>& items) {
      return items.empty() ? nullptr : items[0];
    };
    if (before.size() <= 1 && after.size() <= 1) {
      Compare(one(before), one(after), type);
    } else if (before.size() > 1 && after.size() > 1) {
      bool same = before.size() == after.size();
      for (size_t i = 0; same && i < before.size(); ++i) same = *before[i] == *after[i];
      if (!same) changes_.modified.Insert(path_);
    } else if (before.size() > 1) {
      if (!after.empty()) Compare(nullptr, one(after), type);
      changes_.removed.Insert(path_);
    } else {
      if (!before.empty()) Compare(one(before), nullptr, type);
      changes_.added.Insert(path_);
    }
  }

  PathOfField path_;
  FieldChanges changes_;
};

class Collection {
 public:
  FieldSet Run(const json::Value& value, const FieldType& type) {
    Collect(value, type);
    return std::move(fields_);
  }

 private:
  void Collect(const json::Value& value, const FieldType& type) {
    if (value.is_object()) {
      if (type.IsAtomicMap()) {
        fields_.Insert(path_);
      } else {
        Members(value, type);
      }
    } else if (value.is_array()) {
      if (type.IsAtomicList()) {
        fields_.Insert(path_);
      } else {
        Items(value, type);
      }
    } else if (!value.is_null() || type.form() == FieldType::Form::kScalar) {
      fields_.Insert(path_);
    }
  }

  void Members(const json::Value& value, const FieldType& type) {
    for (const json::Member& member : value.members()) {
      const FieldType::MemberType of = type.Member(member.name());
      path_.push_back(FieldStep(member.name()));
      Collect(member.value, of.type);
      const bool is_bare =
          member.value.is_null() || (member.value.is_object() && member.value.empty());
      if (is_bare || !of.named) fields_.Insert(path_);
      path_.pop_back();
    }
  }

  void Items(const json::Value& list, const FieldType& type) {
    std::map<std::string, int> counts;
    for (const json::Value& item : list.items()) {
      if (const auto step = type.StepOf(item); step.ok()) ++counts[*step];
    }
    for (const json::Value& item : list.items()) {
      const auto step = type.StepOf(item);
      if (!step.ok()) continue;
      path_.push_back(*step);
      // Items of one key are owned as a whole; nobody can say which of them a field is in.
      if (counts[*step] == 1) Collect(item, type.Item());
      fields_.Insert(path_);
      path_.pop_back();
    }
  }

  PathOfField path_;
  FieldSet fields_;
};

}  // namespace

FieldChanges ChangesBetween(const json::Value& before, const json::Value& after,
                            const FieldType& type) {
  return Comparison().Run(before, after, type);
}

FieldSet FieldsOf(const json::Value& value, const FieldType& type) {
  return Collection().Run(value, type);
}

}  // namespace kube::server
