// Whatever etcd's gateway answers, each operation of the store ends, with a result or an error. The
// first byte of the input says what the HTTP code is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "api/resource_registry.h"
#include "base/clock.h"
#include "search/registry/etcd_gateway.h"
#include "search/registry/etcd_store.h"
#include "tests/fuzz/scripted_transport.h"

namespace {

class Handler : public search::RegistryWatchHandler {
 public:
  void OnEvent(const search::RegistryEvent& event) override {
    const bool bookmark = event.type == search::RegistryEvent::Type::kBookmark;
    if (ended_ || bookmark != (event.object == nullptr)) std::abort();
  }
  void OnEnd(absl::Status /*status*/) override {
    if (ended_) std::abort();
    ended_ = true;
  }
  bool ended() const { return ended_; }

 private:
  bool ended_ = false;
};

std::unique_ptr<search::RegistryStore> StoreOf(int code, const std::string& text) {
  std::vector<search::EtcdGateway::Server> servers;
  servers.push_back({"http://etcd", std::make_shared<tests::ScriptedTransport>(code, text)});
  return search::NewEtcdStore(
      std::make_unique<search::EtcdGateway>(std::move(servers), base::RealClock()), {});
}

kube::Object Registry() {
  kube::Object object = kube::Object::Make(api::ResourceRegistryResource().gvk, {"", "all"});
  object.Set({"metadata", "resourceVersion"}, "7");
  return object;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr int kCodes[] = {200, 400, 404, 500};
  const int code = kCodes[data[0] % std::size(kCodes)];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto store = StoreOf(code, text);
  const base::StopToken stop;
  const kube::Object object = Registry();
  (void)store->Get("all", stop);
  for (const int64_t limit : {0, 1}) {
    const auto listing = store->List({.limit = limit}, stop);
    if (!listing.ok()) continue;
    for (const kube::ObjectPtr& item : listing->objects) {
      if (item == nullptr) std::abort();
    }
  }
  (void)store->Create(object, stop);
  (void)store->Update(object, stop);
  (void)store->Delete(object, stop);
  (void)store->Progress(stop);
  Handler handler;
  const auto watch = store->Watch(7, handler);
  if (!handler.ended()) std::abort();
  return 0;
}
