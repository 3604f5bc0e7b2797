// What holds for the whole table of types; that it is Kubernetes' own, tests/e2e proves.
#include "kube/schema/types.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kube::schema {
namespace {

bool ByName(const Field& a, const Field& b) { return a.name < b.name; }

// Adds a struct and those that it leads to.
void Collect(const Struct& type, std::set<const Struct*>& all) {
  if (!all.insert(&type).second) return;
  for (const Field& field : type.fields) {
    if (field.of != nullptr) Collect(*field.of, all);
  }
  for (const Inlined& part : type.inlined) Collect(*part.of, all);
}

std::set<const Struct*> AllStructs() {
  std::set<const Struct*> all;
  for (const Kind& kind : AllKinds()) Collect(*kind.of, all);
  for (const Struct* part : {&ReplicaRequirements(), &Component(), &DependentObjectReference(),
                             &AggregatedStatusItem(), &Overriders()}) {
    Collect(*part, all);
  }
  return all;
}

TEST_CASE("fields are found by their names, and once each") {
  for (const Struct* type : AllStructs()) {
    INFO(type->name);
    CHECK(std::is_sorted(type->fields.begin(), type->fields.end(), ByName));
    for (const Field& field : type->fields) CHECK(type->Find(field.name) == &field);
    CHECK(type->Find("noSuchField") == nullptr);
  }
}

TEST_CASE("a field leads to a struct exactly when it holds one") {
  for (const Struct* type : AllStructs()) {
    for (const Field& field : type->fields) {
      INFO(type->name << "." << field.name);
      CHECK((field.of != nullptr) == (field.type == Type::kStruct));
      CHECK_FALSE((field.pointer() && field.shape != Shape::kOne));
      CHECK((!field.omits_zero_time() || field.type == Type::kTime));
    }
  }
}

TEST_CASE("fields have different places, from the first to the last") {
  for (const Struct* type : AllStructs()) {
    INFO(type->name);
    std::set<size_t> places;
    for (const Field& field : type->fields) places.insert(field.place);
    CHECK(places.size() == type->fields.size());
    CHECK((places.empty() || *places.rbegin() == type->fields.size() - 1));
  }
}

TEST_CASE("each field of a message has a number, of its own or by a struct inside") {
  for (const Struct* type : AllStructs()) {
    if (!type->InProtobuf()) continue;
    INFO(type->name);
    std::set<int> numbers;
    std::set<std::string> inside = {"apiVersion", "kind"};  // Protobuf has them around the object.
    for (const Inlined& part : type->inlined) {
      CHECK(numbers.insert(part.number).second);
      CHECK(type->FindInlined(part.number) == part.of);
      for (const Field& field : part.of->fields) {
        CHECK(type->Find(field.name) != nullptr);
        inside.insert(std::string(field.name));
      }
    }
    for (const Field& field : type->fields) {
      if (field.number == 0) {
        CHECK(inside.count(std::string(field.name)) == 1);
        continue;
      }
      CHECK(numbers.insert(field.number).second);
      CHECK(type->FindNumber(field.number) == &field);
    }
    CHECK(type->FindNumber(0) == nullptr);
  }
}

TEST_CASE("the keys that tell items apart are fields of the items") {
  for (const Struct* type : AllStructs()) {
    for (const Field& field : type->fields) {
      INFO(type->name << "." << field.name);
      const Merge& merge = field.merging();
      for (const ListKey& key : merge.keys) {
        REQUIRE(field.shape == Shape::kList);
        REQUIRE(field.of != nullptr);
        CHECK(field.of->Find(key.name) != nullptr);
      }
      CHECK_FALSE((merge.set && !merge.keys.empty()));
      if (!merge.patch_key.empty()) {
        CHECK(merge.patch_merges);
        REQUIRE(field.of != nullptr);
        CHECK(field.of->Find(merge.patch_key) != nullptr);
      }
    }
  }
}

TEST_CASE("a kind is found by its group and version, and has the fields of every object") {
  for (const Kind& kind : AllKinds()) {
    INFO(kind.group << " " << kind.name);
    CHECK(FindKind({std::string(kind.group), std::string(kind.version), std::string(kind.name)}) ==
          kind.of);
    CHECK(kind.of->name == kind.name);
    CHECK(kind.of->Find("apiVersion") != nullptr);
    CHECK(kind.of->Find("kind") != nullptr);
    const Field* metadata = kind.of->Find("metadata");
    if (kind.name != "DeleteOptions") CHECK(metadata->of == &ObjectMeta());
  }
  CHECK(FindKind({"batch", "v1beta1", "CronJob"}) == nullptr);
  CHECK(FindKind({"apps.kruise.io", "v1alpha1", "StatefulSet"}) == nullptr);
  CHECK(FindKind({"apps", "v1", "DeleteOptions"}) ==
        FindKind({"meta.k8s.io", "v1", "DeleteOptions"}));
}

TEST_CASE("a row of the table, as Kubernetes has it") {
  const Struct& spec = *FindKind({"", "v1", "Pod"})->Find("spec")->of;
  const Field& containers = *spec.Find("containers");
  CHECK(containers.number == 2);
  CHECK(containers.shape == Shape::kList);
  CHECK_FALSE(containers.omits_empty());
  CHECK(containers.of->name == "Container");
  CHECK(containers.merging().keys.front().name == "name");
  CHECK(containers.merging().implied_null);
  CHECK(containers.merging().patch_key == "name");
  CHECK(spec.Find("volumes")->merging().patch_retains_keys);
  CHECK(spec.Find("nodeSelector")->merging().atomic);
  CHECK(spec.Find("terminationGracePeriodSeconds")->pointer());
  CHECK(spec.Find("volumes")->of->FindInlined(2)->name == "VolumeSource");
  CHECK(FindKind({"search.karmada.io", "v1alpha1", "ResourceRegistry"})->InProtobuf() == false);
}

}  // namespace
}  // namespace kube::schema
