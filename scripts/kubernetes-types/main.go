// Prints how Kubernetes' API structs are written as JSON; see README.md.
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const header = `R"kubernetes(
# How the structs of k8s.io/api v0.35.3 are written as JSON. Made by scripts/kubernetes-types; do not edit.
# The lines around the table make it a C++ string. Of a kind: "kind <apiVersion> <kind> <struct>".
# Of a struct: its name, then a line a field, "  <JSON name> <type> <omitempty> <omitzero>".
`

// The kinds whose objects are encoded, by apiVersion.
var kinds = map[string][]any{
	"apps/v1":              {appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, appsv1.DaemonSet{}},
	"autoscaling/v2":       {autoscalingv2.HorizontalPodAutoscaler{}},
	"batch/v1":             {batchv1.Job{}, batchv1.CronJob{}},
	"networking.k8s.io/v1": {networkingv1.Ingress{}},
	"policy/v1":            {policyv1.PodDisruptionBudget{}},
	"v1": {corev1.Pod{}, corev1.Service{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{},
		corev1.ServiceAccount{}},
}

// Types that write themselves in a way of their own.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[metav1.Time]():        "time",
	reflect.TypeFor[intstr.IntOrString](): "intorstring",
	reflect.TypeFor[metav1.FieldsV1]():    "raw",
}

type describer struct {
	structs map[string][]string // Name of a struct to the lines of its fields.
}

func structName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
}

// The text for a type. Structs that it leads to are described as well.
func (d *describer) typeText(t reflect.Type) string {
	if name, ok := special[t]; ok {
		return name
	}
	marshaler := reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()
	if t.Kind() == reflect.Struct && t.Implements(marshaler) {
		panic(fmt.Sprintf("%v writes itself: say how", t))
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return t.Kind().String()
	case reflect.Pointer:
		return "*" + d.typeText(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			panic("bytes are written as base64: say how")
		}
		return "[]" + d.typeText(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("%v has other keys than strings", t))
		}
		return "map:" + d.typeText(t.Elem())
	case reflect.Struct:
		d.addStruct(t)
		return structName(t)
	}
	panic(fmt.Sprintf("%v is of an unknown kind", t))
}

func (d *describer) addStruct(t reflect.Type) {
	name := structName(t)
	if _, known := d.structs[name]; known {
		return
	}
	d.structs[name] = nil // Types that hold themselves end here.
	lines := d.fields(t)
	sort.Strings(lines)
	d.structs[name] = lines
}

// A line for each field; those of an inlined struct count as the struct's own.
func (d *describer) fields(t reflect.Type) []string {
	var lines []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "-" {
			continue
		}
		if tag[0] == "" && field.Anonymous {
			lines = append(lines, d.fields(field.Type)...)
			continue
		}
		if tag[0] == "" {
			panic(fmt.Sprintf("%v.%s has no JSON name", t, field.Name))
		}
		text := d.typeText(field.Type)
		if strings.Contains(field.Tag.Get("json"), ",omitzero") && text != "time" {
			panic(fmt.Sprintf("%v.%s: only times are known to be left out when zero", t, field.Name))
		}
		line := "  " + tag[0] + " " + text
		for _, option := range []string{"omitempty", "omitzero"} {
			if strings.Contains(","+strings.Join(tag[1:], ",")+",", ","+option+",") {
				line += " " + option
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func main() {
	d := describer{structs: map[string][]string{}}
	var lines []string
	for apiVersion, objects := range kinds {
		for _, object := range objects {
			t := reflect.TypeOf(object)
			lines = append(lines, fmt.Sprintf("kind %s %s %s", apiVersion, t.Name(), d.typeText(t)))
		}
	}
	sort.Strings(lines)
	var names []string
	for name := range d.structs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		lines = append(append(lines, name), d.structs[name]...)
	}
	fmt.Fprint(os.Stdout, header, strings.Join(lines, "\n"), "\n)kubernetes\"\n")
}
