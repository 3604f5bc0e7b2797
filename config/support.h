// Which parts of upstream's surface (Karmada v1.18.2) this program has: controllers, kinds of
// objects, feature gates and flags. These tables are the only source: the warnings at start are
// made from them, and a test compares docs/support.md with them.
#ifndef CONFIG_SUPPORT_H_
#define CONFIG_SUPPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace config {

enum class State {
  kHere,     // Does what it does upstream.
  kPartly,   // Some of it; the note says what is missing.
  kNotYet,   // Accepted, without effect until its feature is part of this program; the note is what
             // it would do ("evict from ...").
  kFixed,    // Accepted, but cannot be changed here; the note says what always holds.
  kNoSense,  // Accepted, and there is nothing in this program that it could change.
  kOutside,  // Upstream's controller manager does nothing with it either; other programs do.
};

// One row of a table.
struct Support {
  absl::string_view name;
  State state = State::kHere;
  absl::string_view note = "";
};
struct FlagSupport {
  std::string name;  // With its dashes.
  State state = State::kHere;
  absl::string_view note = "";
};

struct ControllerSupport {
  absl::string_view name;  // As in --controllers.
  bool on_by_default = true;
  State state = State::kHere;
  absl::string_view note = "";
};

// A kind of Karmada's API groups, by the name of its resource. The note is what follows for its
// objects.
struct KindSupport {
  absl::string_view group;
  absl::string_view version;
  absl::string_view resource;
  absl::string_view kind;
  State state = State::kHere;
  absl::string_view note = "";
};

// A field that asks for something which this program does not do yet.
struct FieldSupport {
  std::vector<absl::string_view> kinds;  // Of Karmada's API groups.
  std::vector<absl::string_view> path;   // An item of a list is "[]".
  absl::string_view value;               // What asks for it; "" stands for any that is not null.
  absl::string_view note;                // What follows.

  // "spec.propagateDeps: true"
  std::string Name() const;
  // "spec.propagateDeps: true has no effect yet: <note>"
  std::string Sentence() const;
};

// What a user reads in docs/support.md.
absl::string_view StateText(State state);

// All controllers that upstream's --controllers switches, sorted by name.
absl::Span<const ControllerSupport> Controllers();
// What runs without being named in --controllers.
absl::Span<const Support> LoopsWithoutSwitch();
// All resources of Karmada's API groups.
absl::Span<const KindSupport> Kinds();
// All fields without effect, sorted by kind.
const std::vector<FieldSupport>& FieldsWithoutEffect();
// Returns those that the object has: one of Karmada's API groups, whole.
std::vector<const FieldSupport*> FieldsWithoutEffectOf(const json::Value& object);
// All gates, in the order of --help.
std::vector<Support> GateSupport();
// All flags, sorted by name.
std::vector<FlagSupport> Flags();

// kInvalidArgument when a token of --controllers names nothing that upstream knows: it lists what
// can be named, and the name that was probably meant.
absl::Status CheckControllers(const std::vector<std::string>& tokens);

}  // namespace config

#endif  // CONFIG_SUPPORT_H_
