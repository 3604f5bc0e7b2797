package main

import (
	"context"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"testclients/wire"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// Follower is one informer, what it has sent, and what its handlers have seen.
type Follower struct {
	name         string
	wire         *wire.Wire
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	// list returns what a server has, read with the kind of client that the informer uses.
	list func(server *rest.Config, options metav1.ListOptions) (runtime.Object, error)
	// listed has, by cluster and key, what list returned last.
	listed map[string]map[string]owned

	mutex  sync.Mutex
	events map[string]int
	errors map[string]int
	seen   map[string]string // By key: the objects that the handlers know, normalized.
}

// Report is what a follower says about itself.
type Report struct {
	Objects  int            `json:"objects"`
	Requests map[string]int `json:"requests"`
	// Events: added, updated, deleted; repeated are those of updated that changed nothing, unseen those of
	// deleted that only a list has shown.
	Events map[string]int `json:"events"`
	Errors map[string]int `json:"errors,omitempty"`
}

// Follow makes the informers; none runs yet.
func Follow(kubeconfig, namespace, selector string, watchSeconds int) []*Follower {
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = selector }
	pods := newFollower("pods", watchSeconds)
	pods.list = listPods
	factory := informers.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(typed(wire.Config(kubeconfig, pods.wire))), 0,
		informers.WithTweakListOptions(tweak))
	pods.observe(factory.Core().V1().Pods().Informer())

	dynamics := newFollower("configmaps", watchSeconds)
	dynamics.list = func(server *rest.Config, options metav1.ListOptions) (runtime.Object, error) {
		return dynamic.NewForConfigOrDie(server).Resource(configMaps).Namespace(namespace).List(
			context.Background(), options)
	}
	dynamics.observe(dynamicinformer.NewFilteredDynamicSharedInformerFactory(
		dynamic.NewForConfigOrDie(wire.Config(kubeconfig, dynamics.wire)), 0, namespace, tweak).
		ForResource(configMaps).Informer())

	metadatas := newFollower("secrets", watchSeconds)
	metadatas.list = func(server *rest.Config, options metav1.ListOptions) (runtime.Object, error) {
		return metadata.NewForConfigOrDie(server).Resource(secrets).List(context.Background(), options)
	}
	metadatas.observe(metadatainformer.NewFilteredSharedInformerFactory(
		metadata.NewForConfigOrDie(wire.Config(kubeconfig, metadatas.wire)), 0, metav1.NamespaceAll, tweak).
		ForResource(secrets).Informer())
	return []*Follower{pods, dynamics, metadatas}
}

// typed asks for what the components of Kubernetes ask for.
func typed(config *rest.Config) *rest.Config {
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return config
}

func listPods(server *rest.Config, options metav1.ListOptions) (runtime.Object, error) {
	return kubernetes.NewForConfigOrDie(server).CoreV1().Pods("").List(context.Background(), options)
}

func newFollower(name string, watchSeconds int) *Follower {
	return &Follower{
		name: name, wire: &wire.Wire{WatchSeconds: watchSeconds},
		events: map[string]int{"added": 0, "updated": 0, "deleted": 0, "repeated": 0, "unseen": 0},
		errors: map[string]int{}, seen: map[string]string{}, listed: map[string]map[string]owned{},
	}
}

func (f *Follower) observe(informer cache.SharedIndexInformer) {
	f.informer = informer
	wire.Must(informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		reason := string(apierrors.ReasonForError(err))
		if reason == "" {
			reason = err.Error()
		}
		f.errors[reason]++
	}))
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.note("added", object) },
		UpdateFunc: func(_, object any) { f.note("updated", object) },
		DeleteFunc: f.noteDeleted,
	})
	wire.Must(err)
	f.registration = registration
}

func (f *Follower) note(event string, object any) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	wire.Must(err)
	text := normalized(object)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.events[event]++
	if event == "updated" && f.seen[key] == text {
		f.events["repeated"]++
	}
	f.seen[key] = text
}

func (f *Follower) noteDeleted(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	wire.Must(err)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.events["deleted"]++
	if _, unseen := object.(cache.DeletedFinalStateUnknown); unseen {
		f.events["unseen"]++
	}
	delete(f.seen, key)
}

// Report may be called at any time.
func (f *Follower) Report() Report {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return Report{
		Objects: len(f.informer.GetStore().ListKeys()), Requests: f.wire.Counts(),
		Events: maps.Clone(f.events), Errors: maps.Clone(f.errors),
	}
}

// itemsOf returns the objects of a list.
func itemsOf(list runtime.Object) []runtime.Object {
	items, err := meta.ExtractList(list)
	wire.Must(err)
	return items
}
