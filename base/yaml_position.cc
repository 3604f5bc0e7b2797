// Runs yaml-cpp's parser for its events alone and follows them with a stack of the maps and lists
// that are open; the names in that stack are the path of the next value. What is looked for ends
// the parsing with an exception of our own (Found), because an event handler has no other way to
// stop the parser. A text that is not YAML yields what was found before the mistake: reporting it
// is the parser's business (base/yaml.cc).
//
// A PlaceIndex is the tree of all values as one array in the order of the text. Each node has the
// index after its last descendant, so a search steps over whole subtrees and needs no pointers.

#include "base/yaml_position.h"

#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace yaml {
namespace {

using YAML::anchor_t;
using YAML::Mark;

// Less than 500, where yaml-cpp fails with a worse error.
constexpr size_t kMaxDepth = 400;

// Ends the parsing; Follow catches it.
struct Found {};

Position PositionOf(const Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// A map or list whose end has not been read yet.
struct Level {
  bool is_map = false;
  bool awaits_value = false;              // In a map: the name has been read.
  Position key;                           // Position of that name.
  std::string name;                       // The open or next member or item.
  size_t items = 0;                       // In a list: the number of items before.
  std::map<std::string, Position> names;  // In a map: its names, if they are kept.
};

// Follows yaml-cpp's events and determines the path of each.
class PathFollower : public YAML::EventHandler {
 public:
  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark& mark, anchor_t) override { Leaf(mark, ""); }
  void OnAlias(const Mark& mark, anchor_t) override { Leaf(mark, ""); }
  void OnScalar(const Mark& mark, const std::string&, anchor_t, const std::string& text) override {
    Leaf(mark, text);
  }
  void OnSequenceStart(const Mark& mark, const std::string&, anchor_t,
                       YAML::EmitterStyle::value) override {
    Enter(mark, false);
  }
  void OnSequenceEnd() override { Leave(); }
  void OnMapStart(const Mark& mark, const std::string&, anchor_t,
                  YAML::EmitterStyle::value) override {
    Enter(mark, true);
  }
  void OnMapEnd() override { Leave(); }

 protected:
  // Is called after a member's name, which is in open().back().
  virtual void OnName() {}
  // Is called at the beginning of a value inside open().
  virtual void OnValue(const Mark&) {}

  const std::vector<Level>& open() const { return open_; }
  Level& innermost() { return open_.back(); }

 private:
  // Returns whether the next value is a name in a map.
  bool IsName() const {
    return !open_.empty() && open_.back().is_map && !open_.back().awaits_value;
  }

  void Leaf(const Mark& mark, const std::string& text) {
    if (IsName()) {
      open_.back().name = text;
      open_.back().key = PositionOf(mark);
      open_.back().awaits_value = true;
      OnName();
      return;
    }
    OnValue(mark);
    End();
  }

  void Enter(const Mark& mark, bool is_map) {
    OnValue(mark);
    // What is nested deeper has no place; yaml-cpp would run into its own limit.
    if (open_.size() >= kMaxDepth) throw Found{};
    open_.push_back({.is_map = is_map, .name = is_map ? "" : "0"});
  }

  void Leave() {
    open_.pop_back();
    End();
  }

  // Must be called at the end of a value.
  void End() {
    if (open_.empty()) return;
    Level& level = open_.back();
    level.awaits_value = false;
    if (!level.is_map) level.name = absl::StrCat(++level.items);
  }

  std::vector<Level> open_;  // Outermost first.
};

// Finds the place of one path.
class PlaceFinder : public PathFollower {
 public:
  explicit PlaceFinder(json::Path path) : path_(path) {}

  const std::optional<Place>& place() const { return place_; }

 private:
  // Keeps the position if the value is at the path.
  void OnValue(const Mark& mark) override {
    if (open().size() != path_.size()) return;
    for (size_t i = 0; i < path_.size(); ++i) {
      if (open()[i].name != path_[i]) return;
    }
    const Position value = PositionOf(mark);
    const bool named = !open().empty() && open().back().is_map;
    place_ = Place{named ? open().back().key : value, value};
    throw Found{};
  }

  const json::Path path_;
  std::optional<Place> place_;
};

class RepetitionFinder : public PathFollower {
 public:
  std::vector<RepeatedName> Take() { return std::move(repeated_); }

 private:
  void OnName() override {
    Level& map = innermost();
    const auto [known, added] = map.names.emplace(map.name, map.key);
    // A merge key may be there several times: each merges another map.
    if (added || map.name == "<<") return;
    RepeatedName repeated{{}, known->second, map.key};
    for (const Level& level : open()) repeated.path.push_back(level.name);
    repeated_.push_back(std::move(repeated));
  }

  std::vector<RepeatedName> repeated_;
};

// Only the first document is read.
void Follow(absl::string_view text, PathFollower& follower) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(follower);
  } catch (const Found&) {
  } catch (const YAML::Exception&) {  // Parsing the text reports this error.
  }
}

}  // namespace

// Keeps the place of every value.
class PlaceCollector : public PathFollower {
 public:
  explicit PlaceCollector(std::vector<PlaceIndex::Node>& nodes) : nodes_(nodes) {}

  // Must be called after the last value.
  void Finish() { CloseDownTo(0); }

 private:
  void OnValue(const Mark& mark) override {
    CloseDownTo(open().size());
    const Position value = PositionOf(mark);
    const bool named = !open().empty() && open().back().is_map;
    unended_.push_back(nodes_.size());
    nodes_.push_back(
        {open().empty() ? "" : open().back().name, {named ? open().back().key : value, value}});
  }

  // Ends the values at this depth and below: what follows is not in them.
  void CloseDownTo(size_t depth) {
    for (; unended_.size() > depth; unended_.pop_back())
      nodes_[unended_.back()].end = nodes_.size();
  }

  std::vector<PlaceIndex::Node>& nodes_;
  std::vector<size_t> unended_;  // The last node and those around it, outermost first.
};

PlaceIndex::PlaceIndex(absl::string_view text) {
  PlaceCollector collector(nodes_);
  Follow(text, collector);
  collector.Finish();
}

std::optional<Place> PlaceIndex::Find(json::Path path) const {
  if (nodes_.empty()) return std::nullopt;
  size_t at = 0;
  for (const absl::string_view name : path) {
    const size_t end = nodes_[at].end;
    // The children of a node follow it; each step passes over one child with all that is in it.
    for (++at; at < end && nodes_[at].name != name;) at = nodes_[at].end;
    if (at >= end) return std::nullopt;
  }
  return nodes_[at].place;
}

std::optional<Place> FindPlace(absl::string_view text, json::Path path) {
  PlaceFinder finder(path);
  Follow(text, finder);
  return finder.place();
}

std::vector<RepeatedName> FindRepeatedNames(absl::string_view text) {
  RepetitionFinder finder;
  Follow(text, finder);
  return finder.Take();
}

}  // namespace yaml
