package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	corev1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter"
	"github.com/karmada-io/karmada/pkg/util"
	"github.com/karmada-io/karmada/pkg/util/fedinformer/genericmanager"
)

// startInterpreter returns upstream's whole chain, as its controller manager builds it: customizations
// and webhooks (there are none of either), shipped scripts, built-in handlers.
func startInterpreter(ctx context.Context) (resourceinterpreter.ResourceInterpreter, error) {
	webhooks := configv1alpha1.SchemeGroupVersion.WithResource("resourceinterpreterwebhookconfigurations")
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{
			util.ResourceInterpreterCustomizationsGVR: "ResourceInterpreterCustomizationList",
			webhooks: "ResourceInterpreterWebhookConfigurationList",
		})
	informers := genericmanager.NewSingleClusterInformerManager(ctx, client, 0)
	services := corev1.NewServiceLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
	interpreter := resourceinterpreter.NewResourceInterpreter(informers, services)
	return interpreter, interpreter.Start(ctx)
}
