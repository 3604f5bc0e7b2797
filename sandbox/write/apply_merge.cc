// Implements the merging of server-side apply.
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/write/apply_patch.h"

namespace sandbox {
namespace {

struct KeyedList {
  absl::string_view name;
  std::vector<std::string> keys;
};

// Lists of built-in types with listType=map. The keys of "ports" depend on the object that contains
// it, see KeysOfItems.
const std::vector<KeyedList>& KeyedLists() {
  static const auto* const lists = new std::vector<KeyedList>{
      {"conditions", {"type"}},
      {"containers", {"name"}},
      {"env", {"name"}},
      {"ephemeralContainers", {"name"}},
      {"hostAliases", {"ip"}},
      {"imagePullSecrets", {"name"}},
      {"initContainers", {"name"}},
      {"ownerReferences", {"uid"}},
      {"secrets", {"name"}},
      {"topologySpreadConstraints", {"topologyKey", "whenUnsatisfiable"}},
      {"volumeDevices", {"devicePath"}},
      {"volumeMounts", {"mountPath"}},
      {"volumes", {"name"}},
      {"webhooks", {"name"}},
  };
  return *lists;
}

std::vector<std::string> KeysOfItems(absl::string_view name, const json::Value& list) {
  if (name == "ports" && !list.empty()) {
    if (list.At(0).Has("containerPort")) return {"containerPort", "protocol"};
    return {"port", "protocol"};
  }
  for (const KeyedList& known : KeyedLists()) {
    if (known.name == name) return known.keys;
  }
  return {};
}

bool SameKey(const json::Value& a, const json::Value& b, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const json::Value &x = a[key], &y = b[key];
    // An absent protocol equals the default one.
    if (key == "protocol" && x.AsString("TCP") == y.AsString("TCP")) continue;
    if (x != y) return false;
  }
  return true;
}

const json::Value* FindItem(const json::Value* list, const json::Value& like,
                            const std::vector<std::string>& keys) {
  if (list == nullptr) return nullptr;
  for (const json::Value& item : list->items()) {
    if (SameKey(item, like, keys)) return &item;
  }
  return nullptr;
}

bool Contains(const json::Value* list, const json::Value& wanted) {
  if (list == nullptr) return false;
  for (const json::Value& item : list->items()) {
    if (item == wanted) return true;
  }
  return false;
}

}  // namespace

// The present position in the object.
struct ApplyMerge::Place {
  const json::Value* schema = nullptr;
  std::string name;  // The name of the member at this place.
  std::string path;
  bool custom = false;
  bool in_metadata = false;

  bool IsSet(const json::Value&) const {
    if (name == "finalizers") return in_metadata;
    return schema != nullptr && (*schema)["x-kubernetes-list-type"].AsString() == "set";
  }
  std::vector<std::string> Keys(const json::Value& list) const {
    if (!custom || in_metadata) return KeysOfItems(name, list);
    std::vector<std::string> keys;
    if (schema == nullptr || (*schema)["x-kubernetes-list-type"].AsString() != "map") return keys;
    for (const json::Value& key : (*schema)["x-kubernetes-list-map-keys"].items()) {
      keys.push_back(key.ToString());
    }
    return keys;
  }
  bool Atomic() const {
    return schema != nullptr && (*schema)["x-kubernetes-map-type"].AsString() == "atomic";
  }
  Place Item() const {
    Place item = *this;
    item.schema = schema == nullptr ? nullptr : schema->Find("items");
    item.name.clear();
    return item;
  }
};

ApplyMerge::ApplyMerge(const ResourceInfo& info) : keep_(info.schema) {
  if (info.custom && keep_ != nullptr) schema_ = &keep_->root();
}

ApplyMerge::Place ApplyMerge::Member(const Place& parent, absl::string_view name) const {
  Place place;
  place.custom = parent.custom;
  place.in_metadata = parent.in_metadata || (parent.path.empty() && name == "metadata");
  place.name = std::string(name);
  place.path = absl::StrCat(parent.path, ".", name);
  if (parent.schema != nullptr) {
    place.schema = (*parent.schema)["properties"].Find(name);
    if (place.schema == nullptr) place.schema = parent.schema->Find("additionalProperties");
  }
  return place;
}

json::Value ApplyMerge::Merge(const json::Value& live, const json::Value& config) const {
  json::Value out = live.is_object() ? live : json::Value::Object();
  Place root;
  root.schema = schema_;
  root.custom = schema_ != nullptr;
  Merge(out, config, root);
  return out;
}

void ApplyMerge::Merge(json::Value& live, const json::Value& config, const Place& place) const {
  if (config.is_object() && live.is_object() && !place.Atomic()) {
    for (const json::Member& member : config.members()) {
      Merge(live.Mutable(member.name()), member.value, Member(place, member.name()));
    }
    return;
  }
  if (config.is_array() && live.is_array()) {
    MergeList(live, config, place);
    return;
  }
  live = config;
}

void ApplyMerge::MergeList(json::Value& live, const json::Value& config, const Place& place) const {
  if (place.IsSet(config)) {
    for (const json::Value& item : config.items()) {
      if (!Contains(&live, item)) live.Append(item);
    }
    return;
  }
  const std::vector<std::string> keys = place.Keys(config);
  if (keys.empty()) {
    live = config;
    return;
  }
  for (const json::Value& item : config.items()) {
    size_t at = 0;
    while (at < live.size() && !SameKey(live.At(at), item, keys)) ++at;
    if (at == live.size()) {
      live.Append(item);
    } else {
      Merge(live.MutableAt(at), item, place.Item());
    }
  }
}

json::Value ApplyMerge::Remove(const json::Value& live, const json::Value& previous,
                               const json::Value& config) const {
  json::Value out = live;
  Place root;
  root.schema = schema_;
  root.custom = schema_ != nullptr;
  Remove(out, previous, &config, root);
  return out;
}

// Removes a value's fields; returns whether nothing is left, so that the parent removes it too.
bool ApplyMerge::Remove(json::Value& live, const json::Value& previous, const json::Value* config,
                        const Place& place) const {
  if (live.is_array() && previous.is_array()) return RemoveList(live, previous, config, place);
  if (!live.is_object() || !previous.is_object()) return config == nullptr;
  if (place.Atomic()) return config == nullptr;
  for (const json::Member& member : previous.members()) {
    if (!live.Has(member.name())) continue;
    const json::Value* still = config == nullptr ? nullptr : config->Find(member.name());
    if (Remove(live.Mutable(member.name()), member.value, still, Member(place, member.name()))) {
      live.Erase(member.name());
    }
  }
  return config == nullptr && live.empty();
}

bool ApplyMerge::RemoveList(json::Value& live, const json::Value& previous,
                            const json::Value* config, const Place& place) const {
  const std::vector<std::string> keys = place.Keys(previous);
  const bool is_set = place.IsSet(previous);
  if (keys.empty() && !is_set) return config == nullptr;
  for (const json::Value& item : previous.items()) {
    for (size_t i = live.size(); i-- > 0;) {
      if (is_set) {
        if (live.At(i) == item && !Contains(config, item)) live.EraseAt(i);
        continue;
      }
      if (!SameKey(live.At(i), item, keys)) continue;
      const json::Value* still = FindItem(config, item, keys);
      if (still == nullptr) {
        live.EraseAt(i);
      } else {
        Remove(live.MutableAt(i), item, still, place.Item());
      }
    }
  }
  return config == nullptr && live.empty();
}

std::vector<std::string> ApplyMerge::Differences(const json::Value& mine,
                                                 const json::Value& other) const {
  std::vector<std::string> out;
  Place root;
  root.schema = schema_;
  root.custom = schema_ != nullptr;
  Differ(mine, other, root, out);
  return out;
}

void ApplyMerge::Differ(const json::Value& mine, const json::Value& other, const Place& place,
                        std::vector<std::string>& out) const {
  if (mine.is_object() && other.is_object() && !place.Atomic()) {
    for (const json::Member& member : mine.members()) {
      const json::Value* theirs = other.Find(member.name());
      if (theirs != nullptr) Differ(member.value, *theirs, Member(place, member.name()), out);
    }
    return;
  }
  if (mine.is_array() && other.is_array()) {
    if (place.IsSet(mine)) return;
    const std::vector<std::string> keys = place.Keys(mine);
    if (!keys.empty()) {
      for (const json::Value& item : mine.items()) {
        const json::Value* theirs = FindItem(&other, item, keys);
        if (theirs != nullptr) Differ(item, *theirs, place.Item(), out);
      }
      return;
    }
  }
  if (mine != other) out.push_back(place.path);
}

}  // namespace sandbox
