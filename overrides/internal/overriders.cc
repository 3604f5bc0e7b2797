// How it works. Each overrider becomes operations of a JSON patch on the whole object, as upstream
// makes them, because the errors follow from that: a path that does not exist cannot be replaced or
// removed, and a parent that does not exist gets no members. The overriders of containers know the
// kinds with pods by the name of the kind alone, whatever its group.
//
// Objects and policies of a megabyte, which an API server accepts, could make each of thousands of
// overriders look at hundreds of thousands of values. So all of them have one budget together, and
// every loop here that is longer than its own overrider takes what it costs off the budget before
// it begins. The object is moved through the patches, lest each of them copy what it changes.

#include "overrides/internal/overriders.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "overrides/internal/draft.h"
#include "overrides/internal/field_text.h"
#include "overrides/internal/image_name.h"

namespace overrides {
namespace {

using json::Value;

// What it costs to change a container, in values that are looked at, besides the length of what is
// changed.
constexpr size_t kPerContainer = 20;
// How many characters of an image are looked at in the time of one value.
constexpr size_t kCharactersTogether = 32;

// Returns where the object's containers are: "/spec/containers"; "" when its kind has none that
// overriders know.
absl::string_view ContainersPath(const Value& root) {
  const absl::string_view kind = root["kind"].AsString();
  if (kind == "Pod") return "/spec/containers";
  for (const absl::string_view known :
       {"ReplicaSet", "Deployment", "DaemonSet", "Job", "StatefulSet"}) {
    if (kind == known) return "/spec/template/spec/containers";
  }
  return "";
}

// Returns the list under `path`, a pointer without escapes; the null value when there is none. It
// is valid until the draft is changed.
absl::StatusOr<const Value*> ContainersAt(Draft& draft, absl::string_view path) {
  const std::vector<absl::string_view> names = absl::StrSplit(path.substr(1), '/');
  const Value& list = draft.root.Get(names);
  RETURN_IF_ERROR(draft.Spend(list.size()));
  if (!list.is_null() && !list.is_array()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", path, "\" is not a list"));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list.At(i).is_object()) continue;
    return absl::InvalidArgumentError(absl::StrCat("\"", path, "/", i, "\" is not an object"));
  }
  return &list;
}

absl::StatusOr<std::string> OverriddenImage(absl::string_view image, const Value& overrider) {
  ASSIGN_OR_RETURN(ImageName name, ImageName::Parse(image));
  const absl::string_view component = overrider["component"].AsString();
  const absl::string_view op = overrider["operator"].AsString();
  const absl::string_view value = overrider["value"].AsString();
  if (component == "Registry" || component == "Repository") {
    std::string& part = component == "Registry" ? name.registry : name.repository;
    if (op == "add") absl::StrAppend(&part, value);
    if (op == "replace") part = std::string(value);
    if (op == "remove") part.clear();
  } else if (component == "Tag") {
    if (op == "add") name.SetTagOrDigest(absl::StrCat(name.TagOrDigest(), value));
    if (op == "replace") name.SetTagOrDigest(value);
    if (op == "remove") name.RemoveTagOrDigest();
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no component \"", component, "\" of an image"));
  }
  return name.ToString();
}

// An image and the path of the field that has it.
struct ImageAt {
  std::string path;
  std::string image;
};

absl::Status OverrideImages(absl::Span<const ImageAt> images, const Value& overrider,
                            Draft& draft) {
  Value operations = Value::Array();
  for (const auto& [path, image] : images) {
    RETURN_IF_ERROR(draft.Spend(kPerContainer + image.size() / kCharactersTogether));
    const absl::StatusOr<std::string> overridden = OverriddenImage(image, overrider);
    if (!overridden.ok())
      return base::Annotate(overridden.status(), "image \"", image, "\" at ", path);
    RETURN_IF_ERROR(draft.Grow(Growth(image, *overridden)));
    operations.Append(Operation("replace", path, *overridden));
  }
  return draft.Patch(std::move(operations));
}

absl::Status NoImage(absl::string_view path, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("predicate path \"", path, "\" does not lead to an image: ", problem));
}

// Returns the image under a predicate's path (upstream's obtainImageValue). An index may only stand
// between a list and a member of its element.
absl::StatusOr<std::string> PredicateImage(const Value& root, absl::string_view path) {
  absl::string_view trimmed = path;
  while (absl::ConsumePrefix(&trimmed, "/")) {
  }
  while (absl::ConsumeSuffix(&trimmed, "/")) {
  }
  const std::vector<absl::string_view> names = absl::StrSplit(trimmed, '/');
  const Value* at = &root;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const Value& next = (*at)[names[i]];
    if (next.is_object()) {
      at = &next;
      continue;
    }
    if (!next.is_array()) {
      return NoImage(path, absl::StrCat(names[i], " is neither an object nor a list"));
    }
    uint32_t index = 0;
    ++i;
    if (!absl::SimpleAtoi(names[i], &index) || index >= next.size()) {
      return NoImage(path, absl::StrCat(names[i], " is not an index of the list ", names[i - 1]));
    }
    if (!next.At(index).is_object()) {
      return NoImage(path,
                     absl::StrCat("element ", index, " of ", names[i - 1], " is not an object"));
    }
    at = &next.At(index);
  }
  const Value& image = (*at)[names.back()];
  if (!image.is_string()) return NoImage(path, absl::StrCat(names.back(), " is not a string"));
  return image.ToString();
}

absl::Status OverrideImage(const Value& overrider, Draft& draft) {
  const Value& root = draft.root;
  if (const Value& predicate = overrider["predicate"]; !predicate.is_null()) {
    const std::string path = predicate["path"].ToString();
    ASSIGN_OR_RETURN(const std::string image, PredicateImage(root, path));
    if (!absl::StartsWith(path, "/")) return NoImage(path, "it does not begin with /");
    return OverrideImages({{path, image}}, overrider, draft);
  }
  const absl::string_view containers = ContainersPath(root);
  if (containers.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Value* list, ContainersAt(draft, containers));
  std::vector<ImageAt> images;
  for (size_t i = 0; i < list->size(); ++i) {
    images.push_back({absl::StrCat(containers, "/", i, "/image"), list->At(i)["image"].ToString()});
  }
  return OverrideImages(images, overrider, draft);
}

Value WithoutWords(const Value& words, const Value& removed) {
  absl::flat_hash_set<absl::string_view> names;
  for (const Value& word : removed.items()) {
    if (word.is_string()) names.insert(word.AsString());
  }
  Value result = Value::Array();
  for (const Value& word : words.items()) {
    if (!word.is_string() || !names.contains(word.AsString())) result.Append(word);
  }
  return result;
}

// Returns a container's command or arguments after the overrider.
absl::StatusOr<Value> OverriddenWords(const Value& words, const Value& overrider, Draft& draft) {
  const absl::string_view op = overrider["operator"].AsString();
  const Value& value = overrider["value"];
  RETURN_IF_ERROR(draft.Spend(kPerContainer + words.size() + value.size()));
  if (op == "remove") return WithoutWords(words, value);
  Value result = Value::Array();
  for (const Value& word : words.items()) result.Append(word);
  if (op != "add") return result;
  for (const Value& word : value.items()) {
    RETURN_IF_ERROR(draft.Grow(word.AsString().size() + 1));
    result.Append(word);
  }
  return result;
}

// Changes `field` of the containers that the overrider names. A container without the field gets
// it, by a removal an empty one.
absl::Status OverrideWords(absl::string_view field, const Value& overrider, Draft& draft) {
  const absl::string_view containers = ContainersPath(draft.root);
  if (containers.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Value* list, ContainersAt(draft, containers));
  Value operations = Value::Array();
  for (size_t i = 0; i < list->size(); ++i) {
    const Value& container = list->At(i);
    if (container["name"].AsString() != overrider["containerName"].AsString()) continue;
    const Value& words = container[field];
    const std::string path = absl::StrCat(containers, "/", i, "/", field);
    if (!words.is_null() && !words.is_array()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", path, "\" is not a list"));
    }
    ASSIGN_OR_RETURN(Value overridden, OverriddenWords(words, overrider, draft));
    operations.Append(Operation(words.is_null() ? "add" : "replace", path, std::move(overridden)));
  }
  return draft.Patch(std::move(operations));
}

absl::Status OverrideCommand(const Value& overrider, Draft& draft) {
  return OverrideWords("command", overrider, draft);
}
absl::Status OverrideArgs(const Value& overrider, Draft& draft) {
  return OverrideWords("args", overrider, draft);
}

// Changes labels or annotations. Names that are absent are not removed or replaced.
absl::Status OverrideMap(absl::string_view field, const Value& overrider, Draft& draft) {
  Value& root = draft.root;
  const absl::string_view op = overrider["operator"].AsString();
  if (op == "add" && !overrider["value"].empty() && !root.Get({"metadata", field}).is_object()) {
    root.Set({"metadata", field}, Value::Object());
  }
  Value operations = Value::Array();
  for (const json::Member& entry : overrider["value"].members()) {
    if (op != "add" && !root.Get({"metadata", field}).Has(entry.name())) continue;
    // A ~ is not escaped: no name of a label or annotation may contain one.
    const std::string name = absl::StrReplaceAll(entry.name(), {{"/", "~1"}});
    operations.Append(Operation(op, absl::StrCat("/metadata/", field, "/", name), entry.value));
  }
  return draft.Patch(std::move(operations));
}

absl::Status OverrideLabels(const Value& overrider, Draft& draft) {
  return OverrideMap("labels", overrider, draft);
}
absl::Status OverrideAnnotations(const Value& overrider, Draft& draft) {
  return OverrideMap("annotations", overrider, draft);
}

absl::Status OverridePlaintext(const Value& overrider, Draft& draft) {
  return draft.Patch(Value::Array({Operation(overrider["operator"].AsString(),
                                             overrider["path"].AsString(), overrider["value"])}));
}

struct Step {
  absl::string_view field;
  // Upstream applies the items together, as one patch: only their result has to be an object.
  bool is_one_patch;
  absl::Status (*apply)(const Value& overrider, Draft& draft);
};
constexpr Step kSteps[] = {
    {"imageOverrider", false, OverrideImage},
    {"commandOverrider", false, OverrideCommand},
    {"argsOverrider", false, OverrideArgs},
    {"labelsOverrider", false, OverrideLabels},
    {"annotationsOverrider", false, OverrideAnnotations},
    {"fieldOverrider", false, OverrideField},
    {"plaintext", true, OverridePlaintext},
};

absl::Status CheckResult(const Value& root) {
  if (root.is_object() && !root["kind"].AsString().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("the result has no kind");
}

}  // namespace

absl::Status ApplyOverriders(const Value& overriders, absl::string_view field, Draft& draft) {
  for (const Step& step : kSteps) {
    const absl::Span<const Value> items = overriders[step.field].items();
    for (size_t i = 0; i < items.size(); ++i) {
      absl::Status status = step.apply(items[i], draft);
      const bool is_result = !step.is_one_patch || i + 1 == items.size();
      if (status.ok() && is_result) status = CheckResult(draft.root);
      RETURN_IF_ERROR(base::Annotate(status, field, ".", step.field, "[", i, "]"));
    }
  }
  return absl::OkStatus();
}

}  // namespace overrides
