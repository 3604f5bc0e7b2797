package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter"
)

// replicasSet is what ReviseReplica sets; the program for the other side uses the same number.
const replicasSet = 7

// subject is an object with what two members report of it.
type subject struct {
	name   string
	object *unstructured.Unstructured
	items  []workv1alpha2.AggregatedStatusItem
}

func readSubject(folder, name string) (subject, error) {
	s := subject{name: name}
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		return s, err
	}
	s.object = &unstructured.Unstructured{}
	if err = s.object.UnmarshalJSON(text); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	if text, err = os.ReadFile(filepath.Join(folder, name+".items.json")); err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s.items)
}

// copied returns a subject that shares nothing: upstream's handlers may change what they are given.
func (s subject) copied() subject {
	out := subject{name: s.name, object: s.object.DeepCopy()}
	for i := range s.items {
		out.items = append(out.items, *s.items[i].DeepCopy())
	}
	return out
}

// operation is a row of the table: run asks the interpreter once.
type operation struct {
	name string
	run  func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error)
}

type replicas struct {
	Replicas     int32                             `json:"replicas"`
	Requirements *workv1alpha2.ReplicaRequirements `json:"requirements"`
}

var operations = []operation{
	{"InterpretHealth", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		return i.InterpretHealth(s.object)
	}},
	{"InterpretReplica", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		n, requirements, err := i.GetReplicas(s.object)
		return replicas{n, requirements}, err
	}},
	{"InterpretStatus", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		return i.ReflectStatus(s.object)
	}},
	{"InterpretDependency", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		return i.GetDependencies(s.object)
	}},
	{"ReviseReplica", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		return i.ReviseReplica(s.object, replicasSet)
	}},
	{"AggregateStatus", func(i resourceinterpreter.ResourceInterpreter, s subject) (any, error) {
		return i.AggregateStatus(s.object, s.items)
	}},
}
