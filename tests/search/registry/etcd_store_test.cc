// ResourceRegistries in etcd: keys and values of upstream, guarded writes, watches, faults.
#include "search/registry/etcd_store.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/tls.h"
#include "search/registry/etcd_compactor.h"
#include "tests/search/registry/etcd_fixture.h"

namespace search {
namespace {

std::vector<std::string> Names(const RegistryStore::Listing& listing) {
  std::vector<std::string> out;
  for (const kube::ObjectPtr& object : listing.objects) out.emplace_back(object->name());
  return out;
}

TEST_CASE("a registry is stored under upstream's key, without its resourceVersion") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    const auto created = store->Create(Registry("r1"), {});
    REQUIRE(created.ok());
    const auto value = json::Parse(etcd.Value(std::string(kFolder) + "r1"));
    REQUIRE(value.ok());
    CHECK(kube::Object(*value) == Registry("r1"));

    const auto got = store->Get("r1", {});
    REQUIRE(got.ok());
    CHECK(**got == **created);
    CHECK((*got)->resource_version() == absl::StrCat(*store->Progress({})));
    CHECK(absl::IsNotFound(store->Get("r2", {}).status()));
    CHECK(store->Health({}).ok());
  });
}

TEST_CASE("what upstream has written is read, and kept by an update") {
  OnEtcds([](auto& etcd) {
    const std::string upstream =
        R"({"kind":"ResourceRegistry","apiVersion":"search.karmada.io/v1alpha1","metadata":{)"
        R"("name":"up","uid":"7f5","creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[{)"
        R"("manager":"karmadactl","operation":"Update","apiVersion":"search.karmada.io/v1alpha1",)"
        R"("time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},)"
        R"("spec":{"targetCluster":{},"resourceSelectors":null},"status":{}})"
        "\n";
    etcd.Put(std::string(kFolder) + "up", upstream);
    const auto store = StoreOn({etcd.url()});
    const auto got = store->Get("up", {});
    REQUIRE(got.ok());
    CHECK((*got)->uid() == "7f5");
    kube::Object changed = **got;
    changed.SetLabel("a", "b");
    REQUIRE(store->Update(changed, {}).ok());
    kube::Object expected(*json::Parse(upstream));
    expected.SetLabel("a", "b");
    CHECK(kube::Object(*json::Parse(etcd.Value(std::string(kFolder) + "up"))) == expected);
  });
}

TEST_CASE("writes are guarded by the revision that was read") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    const kube::ObjectPtr first = *store->Create(Registry("r"), {});
    CHECK(absl::IsAlreadyExists(store->Create(Registry("r"), {}).status()));
    const auto second = store->Update(*first, {});
    REQUIRE(second.ok());
    CHECK((*second)->resource_version() != first->resource_version());
    CHECK(absl::IsAborted(store->Update(*first, {}).status()));
    CHECK(absl::IsAborted(store->Delete(*first, {}).status()));
    const auto deleted = store->Delete(**second, {});
    REQUIRE(deleted.ok());
    CHECK(*deleted > kube::ResourceVersionOf(**second));
    CHECK(absl::IsNotFound(store->Delete(**second, {}).status()));
    CHECK(absl::IsNotFound(store->Update(**second, {}).status()));
  });
}

TEST_CASE("lists come in pages, at one revision, until that is compacted") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    for (const char* name : {"a", "b", "c"}) REQUIRE(store->Create(Registry(name), {}).ok());
    etcd.Put("/registry/search.karmada.io/resourceRegistriesX/other", "{}");
    const auto first = store->List({.limit = 2}, {});
    REQUIRE(first.ok());
    CHECK(Names(*first) == std::vector<std::string>{"a", "b"});
    CHECK(first->remaining == 1);
    REQUIRE(store->Create(Registry("d"), {}).ok());
    const auto rest = store->List({.after = "b", .revision = first->revision}, {});
    REQUIRE(rest.ok());
    CHECK(Names(*rest) == std::vector<std::string>{"c"});
    CHECK(rest->revision == first->revision);
    CHECK(Names(*store->List({}, {})) == std::vector<std::string>{"a", "b", "c", "d"});
    etcd.Compact();
    CHECK(
        absl::IsOutOfRange(store->List({.after = "b", .revision = first->revision}, {}).status()));
  });
}

TEST_CASE("a value that is no object is left out and named") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    etcd.Put(std::string(kFolder) + "bad", "k8s:enc:aescbc:v1:xyz");
    REQUIRE(store->Create(Registry("good"), {}).ok());
    const auto all = store->List({}, {});
    REQUIRE(all.ok());
    CHECK(Names(*all) == std::vector<std::string>{"good"});
    CHECK(all->unreadable == std::vector<std::string>{"bad"});
    CHECK(absl::IsInternal(store->Get("bad", {}).status()));
  });
}

TEST_CASE("a watch brings the changes after a revision, deletions with the last state") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    const kube::ObjectPtr a = *store->Create(Registry("a"), {});
    const kube::ObjectPtr b = *store->Create(Registry("b"), {});
    RecordedWatch seen;
    const auto watch = store->Watch(kube::ResourceVersionOf(*a), seen);
    REQUIRE(seen.AwaitEvents(1));
    const int64_t deleted = *store->Delete(*a, {});
    etcd.Put(std::string(kFolder) + "b", "not an object any more");
    REQUIRE(seen.AwaitEvents(3));
    CHECK(seen.Events() == std::vector<std::string>{"+b", "-a", "-b"});
    CHECK(*seen.At(0).object == *b);
    CHECK(seen.At(1).revision == deleted);
    CHECK(seen.At(1).object->resource_version() == absl::StrCat(deleted));
    CHECK(seen.At(1).object->uid() == "u-a");
  });
}

TEST_CASE("a watch from a compacted revision ends with that reason") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    const kube::ObjectPtr a = *store->Create(Registry("a"), {});
    REQUIRE(store->Create(Registry("b"), {}).ok());
    REQUIRE(store->Create(Registry("c"), {}).ok());
    etcd.Compact();
    RecordedWatch seen;
    const auto watch = store->Watch(kube::ResourceVersionOf(*a), seen);
    REQUIRE(seen.AwaitEnd());
    CHECK(absl::IsOutOfRange(seen.end()));
  });
}

TEST_CASE("a server that is down, or has no leader, is passed over") {
  tests::FakeEtcd first, second;
  const auto store = StoreOn({first.url(), second.url()});
  SECTION("down") { first.SetDown(true); }
  SECTION("without a leader") { first.FailWith(14); }
  CHECK(store->Get("r", {}).status().code() == absl::StatusCode::kNotFound);
  CHECK(second.requests() == 1);
  // The one that answered is asked first from now on.
  CHECK(absl::IsNotFound(store->Get("r", {}).status()));
  CHECK(second.requests() == 2);
}

TEST_CASE("a write is not repeated on another server unless it certainly was not processed") {
  tests::FakeEtcd first, second;
  const auto store = StoreOn({first.url(), second.url()});
  first.FailWith(14);
  CHECK(absl::IsUnavailable(store->Create(Registry("r"), {}).status()));
  CHECK(second.requests() == 0);
}

TEST_CASE("when no server answers, the error names each, and the store recovers") {
  tests::FakeEtcd first, second;
  const auto store = StoreOn({first.url(), second.url()});
  first.SetDown(true);
  second.FailWith(14);
  const absl::Status status = store->Get("r", {}).status();
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("etcd does not answer: ") && Catch::Contains(first.url()) &&
                 Catch::Contains(second.url() + ": etcdserver: no leader"));
  CHECK_FALSE(store->Health({}).ok());
  first.SetDown(false);
  CHECK(store->Health({}).ok());
  CHECK(store->Create(Registry("r"), {}).ok());
}

TEST_CASE("CA and client certificate are used") {
  const auto ca = *tls::CertificateAuthority::Create("etcd-ca");
  const auto server = ca->Issue({.common_name = "etcd", .ip_addresses = {"127.0.0.1"}});
  const auto client = ca->Issue({.common_name = "karmada-search"});
  REQUIRE((server.ok() && client.ok()));
  tests::FakeEtcd etcd(tls::ServerOptions{*server, ca->cert_pem()});
  const tests::TempDirectory files;
  EtcdOptions options{.servers = {etcd.url()}, .ca_pem = ca->cert_pem()};
  options.cert_file = files.Write("client.crt", client->cert_pem);
  options.key_file = files.Write("client.key", client->key_pem);
  CHECK((*NewEtcdStore(options, base::RealClock()))->Health({}).ok());

  const auto other = *tls::CertificateAuthority::Create("other-ca");
  options.ca_pem = other->cert_pem();
  const absl::Status status = (*NewEtcdStore(options, base::RealClock()))->Health({});
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("certificate"));
}

TEST_CASE("two compactors take turns, and keep each revision for a round") {
  OnEtcds([](auto& etcd) {
    const auto store = StoreOn({etcd.url()});
    const EtcdOptions options{.servers = {etcd.url()}};
    const auto first = *EtcdCompactor::Create(options, base::RealClock());
    const auto second = *EtcdCompactor::Create(options, base::RealClock());
    const kube::ObjectPtr a = *store->Create(Registry("a"), {});
    REQUIRE(store->Create(Registry("b"), {}).ok());
    const int64_t then = *store->Progress({});
    CHECK(*first->Round({}) == false);  // It only learns the revision.
    CHECK(*second->Round({}) == false);
    CHECK(store->List({.revision = then}, {}).ok());
    REQUIRE(store->Create(Registry("c"), {}).ok());
    REQUIRE(store->Create(Registry("d"), {}).ok());
    CHECK(*first->Round({}) == true);
    CHECK(*second->Round({}) == false);
    const int64_t before = kube::ResourceVersionOf(*a);
    CHECK(absl::IsOutOfRange(store->List({.revision = before}, {}).status()));
    CHECK(store->List({.revision = *store->Progress({}) - 1}, {}).ok());
  });
}

TEST_CASE("options that cannot be used name their flag") {
  const auto message = [](const EtcdOptions& options) {
    return std::string(NewEtcdStore(options, base::RealClock()).status().message());
  };
  CHECK(message({}) == "--etcd-servers: at least one server is needed");
  CHECK(message({.servers = {"127.0.0.1:2379"}}) ==
        "--etcd-servers: 127.0.0.1:2379: the URL does not begin with http:// or https://");
  CHECK(message({.servers = {"http://a"}, .cert_file = "x"}) ==
        "--etcd-certfile and --etcd-keyfile are needed together");
}

}  // namespace
}  // namespace search
