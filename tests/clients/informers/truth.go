package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"testclients/wire"
)

const cachedFrom = "resource.karmada.io/cached-from-cluster"

// owned is an object of a member.
type owned struct {
	cluster, version, text string
}

// differencesOf says where informers have something else than the members.
func differencesOf(followers []*Follower, members map[string]*rest.Config, selector string) []string {
	found := notWatching(followers)
	for _, follower := range followers {
		truth, problems := truthOf(follower, members, selector)
		for _, problem := range append(problems, follower.against(truth)...) {
			found = append(found, follower.name+": "+problem)
		}
	}
	sort.Strings(found)
	if len(found) > 20 {
		found = append(found[:20], fmt.Sprintf("and %d more", len(found)-20))
	}
	return found
}

func truthOf(follower *Follower, members map[string]*rest.Config, selector string) (map[string]owned, []string) {
	truth, problems := map[string]owned{}, []string(nil)
	for cluster, config := range members {
		if config != nil {
			objects, err := objectsOf(follower, cluster, config, selector)
			if err != nil {
				return nil, []string{cluster + ": " + err.Error()}
			}
			follower.listed[cluster] = objects
		}
		for key, object := range follower.listed[cluster] {
			if _, taken := truth[key]; taken {
				problems = append(problems, key+" is in several members")
			}
			truth[key] = object
		}
	}
	return truth, problems
}

func objectsOf(follower *Follower, cluster string, config *rest.Config, selector string) (map[string]owned, error) {
	list, err := follower.list(config, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	objects := map[string]owned{}
	for _, item := range itemsOf(list) {
		key, err := cache.MetaNamespaceKeyFunc(item)
		wire.Must(err)
		accessor, err := meta.Accessor(item)
		wire.Must(err)
		objects[key] = owned{cluster, accessor.GetResourceVersion(), normalized(item)}
	}
	return objects, nil
}

func (f *Follower) against(truth map[string]owned) []string {
	var found []string
	held := map[string]bool{}
	for _, object := range f.informer.GetStore().List() {
		key, err := cache.MetaNamespaceKeyFunc(object)
		wire.Must(err)
		held[key] = true
		want, exists := truth[key]
		if !exists {
			found = append(found, key+" is held, and no member has it")
			continue
		}
		found = append(found, differences(key, object, want)...)
	}
	for key, want := range truth {
		if !held[key] {
			found = append(found, fmt.Sprintf("%s of %s is missing", key, want.cluster))
		}
	}
	return append(found, f.seenAgainst(truth)...)
}

func differences(key string, object any, want owned) []string {
	var found []string
	accessor, err := meta.Accessor(object)
	wire.Must(err)
	if cluster := accessor.GetAnnotations()[cachedFrom]; cluster != want.cluster {
		found = append(found, fmt.Sprintf("%s says that it is from %q, it is from %s", key, cluster, want.cluster))
	}
	if version := versionIn(want.cluster, accessor.GetResourceVersion()); version != want.version {
		found = append(found, fmt.Sprintf("%s has version %s, in %s it has %s", key, version, want.cluster, want.version))
	}
	if text := normalized(object); text != want.text {
		found = append(found, fmt.Sprintf("%s is %s, in %s it is %s", key, text, want.cluster, want.text))
	}
	return found
}

// seenAgainst compares what the handlers were called with.
func (f *Follower) seenAgainst(truth map[string]owned) []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var found []string
	for key := range f.seen {
		if _, exists := truth[key]; !exists {
			found = append(found, key+" is known to the handlers, and no member has it")
		}
	}
	for key, want := range truth {
		if f.seen[key] != want.text {
			found = append(found, key+" is not what the handlers were called with last")
		}
	}
	return found
}

// versionIn returns the version of an object in its cluster, from a composite version or a member's own.
func versionIn(cluster, version string) string {
	clusters := map[string]string{}
	text, err := base64.RawURLEncoding.DecodeString(version)
	if err == nil && json.Unmarshal(text, &clusters) == nil {
		return clusters[cluster]
	}
	return version
}

// normalized returns an object as JSON without what differs by nature: its version, the annotation of where it
// is from, managed fields, and the kind, which items of lists do not have.
func normalized(object any) string {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	wire.Must(err)
	fields = runtime.DeepCopyJSON(fields)
	delete(fields, "kind")
	delete(fields, "apiVersion")
	metadata := fields["metadata"].(map[string]any)
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, cachedFrom)
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	text, err := json.Marshal(fields)
	wire.Must(err)
	return string(text)
}
