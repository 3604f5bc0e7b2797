#include "controllers/binding_states/register.h"

#include <memory>

#include "api/resources.h"
#include "controllers/binding_states/state_gauges.h"

namespace controllers {

void CountBindingStates(const Context& context) {
  const auto gauges = std::make_shared<StateGauges>(context.manager.registry());
  const base::Clock& clock = context.clock();
  for (const kube::Resource* kind : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    kube::EventHandler handler;
    handler.on_add = [gauges, &clock](const kube::ObjectPtr& binding, bool) {
      gauges->Count(*binding, clock.Now(), /*is_new=*/true);
    };
    handler.on_update = [gauges, &clock](const kube::ObjectPtr&, const kube::ObjectPtr& after) {
      gauges->Count(*after, clock.Now(), /*is_new=*/false);
    };
    handler.on_delete = [gauges](const kube::ObjectPtr& last) { gauges->Forget(*last); };
    context.InformerOf(*kind)->AddHandler(std::move(handler));
  }
}

}  // namespace controllers
