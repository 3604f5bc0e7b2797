#include "controllers/dependencies/attached_bindings.h"

#include <catch2/catch.hpp>
#include <map>

#include "api/keys.h"
#include "api/resources.h"

namespace {

const kube::ObjectKey kWeb = {"ns", "web-deployment"};
const kube::ObjectKey kShop = {"ns", "shop-deployment"};

json::Value Json(const std::string& text) { return json::Parse(text).value(); }

// Returns the binding of a ConfigMap that web and shop need.
kube::Object Attached() {
  kube::Object binding =
      kube::Object::Make(api::ResourceBindings().gvk, {"ns", "config-configmap"});
  binding.SetLabel(controllers::DependedByLabel(kWeb), "web-id");
  binding.SetLabel(controllers::DependedByLabel(kShop), "shop-id");
  binding.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment",
                        "clusters": [{"name": "m1", "replicas": 2}]},
                       {"namespace": "ns", "name": "shop-deployment",
                        "clusters": [{"name": "m2"}]}])"));
  binding.Set({"spec", "conflictResolution"}, "Overwrite");
  binding.Set({"spec", "preserveResourcesOnDeletion"}, true);
  return binding;
}

// Finds no object.
kube::ObjectPtr None(const kube::ObjectKey&) { return nullptr; }

// The template has left every cluster in which it is not placed.
bool Nowhere(const kube::Object&, absl::string_view) { return false; }

controllers::FindBinding Has(const kube::ObjectKey& key, const std::string& spec) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, key);
  binding.Set({"spec"}, Json(spec));
  return [shared = kube::Share(binding)](const kube::ObjectKey& wanted) {
    return shared->key() == wanted ? shared : nullptr;
  };
}

TEST_CASE("an attached binding follows the clusters of one that needs it") {
  kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
  web.Set({"spec", "clusters"}, Json(R"([{"name": "m3", "replicas": 1}])"));
  const kube::Object after = controllers::WithClustersOf(Attached(), web, Nowhere);
  CHECK(after.Get({"spec", "requiredBy"}) == Json(R"([{"namespace": "ns", "name": "web-deployment",
                  "clusters": [{"name": "m3", "replicas": 1}]},
                 {"namespace": "ns", "name": "shop-deployment", "clusters": [{"name": "m2"}]}])"));
  CHECK(controllers::WithClustersOf(after, web, Nowhere) == after);
}

TEST_CASE("an attached binding has the components of one that needs it, and is equal with them") {
  constexpr char kClusters[] = R"([{"name": "m1", "replicas": 3, "components":
      [{"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 2}]}])";
  kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
  web.Set({"spec", "clusters"}, Json(kClusters));
  kube::Object attached = Attached();
  json::Value entries = attached.spec()["requiredBy"];
  entries.MutableAt(0).Set("later", 1);
  attached.Set({"spec", "requiredBy"}, entries);
  const kube::Object after = controllers::WithClustersOf(attached, web, Nowhere);
  CHECK(after.spec()["requiredBy"].At(0)["clusters"] == Json(kClusters));
  CHECK(after.spec()["requiredBy"].At(0)["later"].AsInt() == 1);
  // Nothing is left to write, nor to look at.
  CHECK(controllers::WithClustersOf(after, web, Nowhere) == after);
  CHECK(controllers::ClustersLeft(after, web).empty());
  const auto find = [&](const kube::ObjectKey& key) {
    return key == kWeb ? kube::Share(web) : nullptr;
  };
  web.Set({"spec", "propagateDeps"}, true);
  CHECK(controllers::ReferrersContradicted(attached, after, {find, Nowhere}).empty());
  // The removal of another referrer writes the list, too.
  const kube::Object left = controllers::WithoutReferrer(after, kShop, find);
  CHECK(left.spec()["requiredBy"] == json::Value::Array({after.spec()["requiredBy"].At(0)}));
  // They leave with their source.
  web.Set({"spec", "clusters"}, Json(R"([{"name": "m1", "replicas": 3}])"));
  CHECK(controllers::WithClustersOf(after, web, Nowhere).spec()["requiredBy"].At(0)["clusters"] ==
        Json(R"([{"name": "m1", "replicas": 3}])"));
}

TEST_CASE("a cluster that a template has left stays, as it was, while the template is there") {
  kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
  web.Set({"spec", "clusters"}, Json(R"([{"name": "m3", "replicas": 1}])"));
  const auto still_in = [](const kube::Object& referrer, absl::string_view cluster) {
    return referrer.key() == kWeb && (cluster == "m1" || cluster == "m4");
  };
  const kube::Object after = controllers::WithClustersOf(Attached(), web, still_in);
  // m4 comes into no entry that did not name it.
  CHECK(after.spec()["requiredBy"].At(0)["clusters"] ==
        Json(R"([{"name": "m3", "replicas": 1}, {"name": "m1", "replicas": 2}])"));
  CHECK(after.spec()["requiredBy"].At(1) == Attached().spec()["requiredBy"].At(1));
  CHECK(controllers::WithClustersOf(after, web, still_in) == after);
  CHECK(controllers::WithClustersOf(after, web, Nowhere).spec()["requiredBy"].At(0)["clusters"] ==
        Json(R"([{"name": "m3", "replicas": 1}])"));
  // It is back: each cluster is named once, with the replicas that it is to have now.
  web.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
  CHECK(controllers::WithClustersOf(after, web, still_in).spec()["requiredBy"].At(0)["clusters"] ==
        Json(R"([{"name": "m1"}])"));
}

TEST_CASE("an update contradicts a referrer by clusters in which its template is not") {
  kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
  web.Set({"spec"}, Json(R"({"propagateDeps": true, "conflictResolution": "Overwrite",
      "preserveResourcesOnDeletion": true, "clusters": [{"name": "m3"}]})"));
  const auto find = [&](const kube::ObjectKey& key) {
    return key == kWeb ? kube::Share(web) : nullptr;
  };
  kube::Object after = Attached();
  after.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment",
                      "clusters": [{"name": "m3"}, {"name": "m1", "replicas": 2}]}])"));
  const auto contradicted = [&](const controllers::StillIn& still_in) {
    return controllers::ReferrersContradicted(Attached(), after, {find, still_in}).size();
  };
  CHECK(contradicted([](const kube::Object&, absl::string_view c) { return c == "m1"; }) == 0);
  CHECK(contradicted(Nowhere) == 1);
}

TEST_CASE("a binding that is not needed by another stays as it is") {
  kube::Object other = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "other-deployment"});
  other.Set({"spec", "clusters"}, Json(R"([{"name": "m3"}])"));
  CHECK(controllers::WithClustersOf(Attached(), other, Nowhere) == Attached());
}

}  // namespace

TEST_CASE("a dependency that one binding lets go stays with the others") {
  const kube::Object after =
      controllers::WithoutReferrer(Attached(), kWeb, Has(kShop, R"({"propagateDeps": true})"));
  CHECK(after.labels() == json::Value::Object({{controllers::DependedByLabel(kShop), "shop-id"}}));
  CHECK(after.spec() == Json(R"({"requiredBy": [{"namespace": "ns", "name": "shop-deployment",
                                                  "clusters": [{"name": "m2"}]}],
                                  "conflictResolution": "Abort",
                                  "preserveResourcesOnDeletion": false})"));
}

TEST_CASE("one binding that overwrites or preserves is enough") {
  const kube::Object after = controllers::WithoutReferrer(
      Attached(), kWeb,
      Has(kShop, R"({"conflictResolution": "Overwrite", "preserveResourcesOnDeletion": true})"));
  CHECK(after.spec()["conflictResolution"].AsString() == "Overwrite");
  CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
}

TEST_CASE("a dependency that no binding needs any more keeps no trace of them") {
  kube::Object attached = Attached();
  attached.EraseLabel(controllers::DependedByLabel(kShop));
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment"}])"));
  const kube::Object after = controllers::WithoutReferrer(attached, kWeb, None);
  CHECK(after.labels().empty());
  CHECK(after.spec().empty());
}

TEST_CASE("a binding that a policy placed keeps how conflicts are handled") {
  kube::Object attached = Attached();
  attached.Set({"spec", "placement"}, json::Value::Object());
  const kube::Object after = controllers::WithoutReferrer(attached, kWeb, Has(kShop, "{}"));
  CHECK(after.spec()["conflictResolution"].AsString() == "Overwrite");
  CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
  CHECK(after.spec()["requiredBy"].size() == 1);
}

// A restored backup may bring it later.
TEST_CASE("a binding that is not there keeps its entry, and what it may demand") {
  kube::Object attached = Attached();
  attached.Set({"spec", "conflictResolution"}, "Abort");
  const json::Value of_shop =
      Json(R"([{"namespace": "ns", "name": "shop-deployment", "clusters": [{"name": "m2"}]}])");
  SECTION("when another one goes") {
    const kube::Object after = controllers::WithoutReferrer(attached, kWeb, None);
    CHECK(after.spec()["requiredBy"] == of_shop);
    CHECK(after.Label(controllers::DependedByLabel(kShop)) == "shop-id");
    CHECK(after.Label(controllers::DependedByLabel(kWeb)).empty());
    CHECK(after.spec()["conflictResolution"].AsString() == "Abort");
    CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
  }
  SECTION("when another one is attached") {
    kube::Object config = kube::Object::Make({"", "v1", "ConfigMap"}, {"ns", "config"});
    config.Set({"metadata", "uid"}, "uid-of-config");
    config.Set({"metadata", "resourceVersion"}, "1");
    kube::Object web = kube::Object::Make(api::ResourceBindings().gvk, kWeb);
    web.SetLabel(api::kResourceBindingIdLabel, "web-id");
    web.Set({"spec"}, Json(R"({"propagateDeps": true, "clusters": [{"name": "m3"}]})"));
    const auto find = [web = kube::Share(web)](const kube::ObjectKey& key) {
      return key == web->key() ? web : nullptr;
    };
    const auto with_web = controllers::WithReferrer(&attached, config, web, {find, Nowhere});
    REQUIRE(with_web.ok());
    const kube::Object& after = with_web->binding;
    REQUIRE(after.spec()["requiredBy"].size() == 2);
    CHECK(after.spec()["requiredBy"].At(1) == of_shop.At(0));
    CHECK(after.Label(controllers::DependedByLabel(kShop)) == "shop-id");
    CHECK(after.spec()["preserveResourcesOnDeletion"].AsBool());
    CHECK(controllers::WithReferrer(&after, config, web, {find, Nowhere})->binding == after);
  }
}

TEST_CASE("an entry of another namespace goes with the next edit") {
  kube::Object attached = Attached();
  attached.mutable_root().Mutable({"spec", "requiredBy"}).MutableAt(1).Set("namespace", "other");
  const kube::Object after = controllers::WithoutReferrer(attached, kWeb, None);
  CHECK_FALSE(after.spec().Has("requiredBy"));
}

// Two referrers whose labels have the same name: the hash in it has 32 bits only.
struct Namesakes {
  const kube::ObjectKey a = {"shop", "web-132789-deployment"};
  const kube::ObjectKey b = {"shop", "web-729192-deployment"};
  const std::string label = controllers::DependedByLabel(a);
  std::map<std::string, kube::ObjectPtr> bindings;
  kube::Object config = kube::Object::Make({"", "v1", "ConfigMap"}, {"shop", "config"});

  Namesakes() {
    REQUIRE(label == controllers::DependedByLabel(b));
    config.Set({"metadata", "uid"}, "uid-of-config");
    config.Set({"metadata", "resourceVersion"}, "1");
    for (const kube::ObjectKey& key : {a, b}) {
      kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, key);
      binding.SetLabel(api::kResourceBindingIdLabel, "id-of-" + key.name);
      binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
      bindings[key.name] = kube::Share(binding);
    }
  }
  controllers::FindBinding Find() const {
    return [this](const kube::ObjectKey& key) -> kube::ObjectPtr {
      const auto found = bindings.find(key.name);
      return found == bindings.end() ? nullptr : found->second;
    };
  }
  kube::Object With(const kube::Object* existing, const kube::ObjectKey& referrer) const {
    return controllers::WithReferrer(existing, config, *bindings.at(referrer.name),
                                     {Find(), Nowhere})
        ->binding;
  }
  kube::Object WithBoth() const {
    const kube::Object first = With(nullptr, a);
    return With(&first, b);
  }
};

TEST_CASE_METHOD(Namesakes, "two referrers whose labels have the same name share the label") {
  const kube::Object both = WithBoth();
  CHECK(both.spec()["requiredBy"].size() == 2);
  CHECK(both.Label(label) == "id-of-web-132789-deployment");
  // Neither of them has anything to write.
  CHECK(With(&both, a) == both);
  CHECK(With(&both, b) == both);
  kube::Object edited = both;
  edited.SetLabel(label, "what nobody is called");
  CHECK(With(&edited, b).Label(label) == "id-of-web-729192-deployment");
  edited.EraseLabel(label);
  CHECK(With(&edited, b).Label(label) == "id-of-web-729192-deployment");
}

TEST_CASE_METHOD(Namesakes, "a shared label goes with the last of its referrers") {
  const kube::Object both = WithBoth();
  const kube::Object of_b = controllers::WithoutReferrer(both, a, Find());
  CHECK(of_b.Label(label) == "id-of-web-729192-deployment");
  CHECK(of_b.spec()["requiredBy"].size() == 1);
  CHECK(With(&of_b, b) == of_b);
  // What one that is not in it lets go stays as it is.
  CHECK(controllers::WithoutReferrer(of_b, a, Find()) == of_b);
  CHECK(controllers::WithoutReferrer(both, b, Find()).Label(label) ==
        "id-of-web-132789-deployment");
  CHECK(controllers::WithoutReferrer(of_b, b, Find()).Label(label).empty());
  const kube::ObjectPtr first = bindings.at(a.name);
  bindings.erase(a.name);  // It is yet to come, and shares the label then.
  const kube::Object other = With(&both, b);
  CHECK(other.spec()["requiredBy"].size() == 2);
  CHECK(other.Label(label) == "id-of-web-729192-deployment");
  bindings[a.name] = first;
  CHECK(With(&other, a) == other);
}

// A binding that 400 others need, each in m1, and what happens to it.
struct Crowd {
  kube::Object attached = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "config"});
  int looked_up = 0;

  Crowd() {
    json::Value entries = json::Value::Array();
    for (int i = 0; i < 400; ++i) {
      const kube::ObjectKey key = {"ns", "web-" + std::to_string(i)};
      attached.SetLabel(controllers::DependedByLabel(key), "id-of-" + key.name);
      entries.Append(json::Value::Object(
          {{"namespace", key.ns}, {"name", key.name}, {"clusters", Json(R"([{"name": "m1"}])")}}));
    }
    attached.Set({"spec", "requiredBy"}, std::move(entries));
  }
  // Finds bindings that are in m2 now.
  controllers::Lookups Looking() {
    const auto find = [this](const kube::ObjectKey& key) {
      ++looked_up;
      kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, key);
      binding.SetLabel(api::kResourceBindingIdLabel, "id-of-" + key.name);
      binding.Set({"spec"}, Json(R"({"propagateDeps": true, "clusters": [{"name": "m2"}]})"));
      return kube::Share(binding);
    };
    return {find, Nowhere};
  }
  using Keys = std::vector<kube::ObjectKey>;
  Keys Contradicted(const kube::Object& after) {
    return controllers::ReferrersContradicted(attached, after, Looking());
  }
  Keys Lost(const kube::Object& after) {
    return controllers::ReferrersLost(attached, after, Looking().find);
  }
};

TEST_CASE_METHOD(Crowd, "an entry that goes contradicts no other referrer") {
  kube::Object after = attached;
  json::Value entries = after.spec()["requiredBy"];
  entries.EraseAt(0);
  after.Set({"spec", "requiredBy"}, entries);
  CHECK(Contradicted(after).empty());
  CHECK(looked_up == 0);
  CHECK(Lost(after) == Keys{{"ns", "web-0"}});
  entries.MutableAt(5).Set("clusters", Json(R"([{"name": "m3"}])"));
  after.Set({"spec", "requiredBy"}, entries);
  CHECK(Contradicted(after) == Keys{{"ns", "web-6"}});
}

TEST_CASE_METHOD(Crowd, "an entry that names a binding of another namespace wakes nobody") {
  kube::Object after = attached;
  json::Value entries = after.spec()["requiredBy"];
  entries.Append(Json(R"({"namespace": "other", "name": "web-0", "clusters": [{"name": "m3"}]})"));
  after.Set({"spec", "requiredBy"}, entries);
  CHECK(Contradicted(after).empty());
  std::swap(attached, after);
  CHECK(Lost(after).empty());
}

TEST_CASE_METHOD(Crowd, "a referrer is lost with its entry, or with its label") {
  CHECK(Lost(attached).empty());
  kube::Object after = attached;
  after.SetLabel("of", "somebody");
  after.SetLabel(controllers::DependedByLabel({"ns", "new"}), "id");
  CHECK(Lost(after).empty());
  CHECK(looked_up == 0);
  after.EraseLabel(controllers::DependedByLabel({"ns", "web-7"}));
  after.SetLabel(controllers::DependedByLabel({"ns", "web-9"}), "other");
  CHECK(Lost(after) == Keys{{"ns", "web-7"}, {"ns", "web-9"}});
  after.Erase({"spec", "requiredBy"});
  CHECK(Lost(after).size() == 400);
}
