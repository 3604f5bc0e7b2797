package main

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Types that write themselves in a way of their own, by their name in kube/schema/types.h.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():           "Quantity",
	reflect.TypeFor[metav1.Time]():                 "Time",
	reflect.TypeFor[metav1.MicroTime]():            "MicroTime",
	reflect.TypeFor[intstr.IntOrString]():          "IntOrString",
	reflect.TypeFor[metav1.FieldsV1]():             "Raw",
	reflect.TypeFor[runtime.RawExtension]():        "Raw",
	reflect.TypeFor[apiextensionsv1.JSON]():        "Raw",
	reflect.TypeFor[[]byte]():                      "Bytes",
	reflect.TypeFor[authenticationv1.ExtraValue](): "Strings",
	reflect.TypeFor[authorizationv1.ExtraValue]():  "Strings",
	reflect.TypeFor[certificatesv1.ExtraValue]():   "Strings",
}

var plain = map[reflect.Kind]string{reflect.String: "String", reflect.Bool: "Bool", reflect.Int32: "Int32", reflect.Int64: "Int64"}

// A field of a struct, as JSON has it.
type field struct {
	name, shape, scalar                          string
	of                                           *structure // Of a struct.
	number                                       int        // Of protobuf; 0: it has none, or belongs to an inlined struct.
	place                                        int        // Among the fields of the struct in Go.
	pointer, omitEmpty, omitZero                 bool
	patchMerges, patchReplaces, patchRetainsKeys bool
	patchKey                                     string
	merge                                        mergeRule
}

// An inlined struct: its fields are those of the struct that holds it, but protobuf has it as a message.
type inlined struct {
	number int
	of     *structure
}

type structure struct {
	group, version, name string
	atomic               bool
	fields               []field // By name.
	inlined              []inlined
}

func (s *structure) key() string { return s.group + "/" + s.version + "." + s.name }

type describer struct {
	structs map[string]*structure
	rules   mergeSchema
}

func (d *describer) sorted() []*structure {
	var all []*structure
	for _, s := range d.structs {
		all = append(all, s)
	}
	sort.Slice(all, func(a, b int) bool { return all[a].key() < all[b].key() })
	return all
}

// Describes a struct, and those that it leads to.
func (d *describer) add(t reflect.Type) *structure {
	path := strings.Split(t.PkgPath(), "/")
	s := &structure{group: path[len(path)-2], version: path[len(path)-1], name: t.Name()}
	if known := d.structs[s.key()]; known != nil {
		return known
	}
	d.structs[s.key()] = s // Types that hold themselves end here.
	for i := range t.NumField() {
		d.addField(s, t.Field(i))
	}
	rules := d.rules.of(t)
	s.atomic = rules.atomic
	for i := range s.fields {
		s.fields[i].place = i
		if rule, known := rules.fields[s.fields[i].name]; known {
			s.fields[i].merge = rule
		}
		if !rules.known {
			s.fields[i].merge.impliedObject = s.fields[i].impliesObject()
		}
		s.fields[i].merge.impliedNull = s.fields[i].impliesNull()
	}
	sort.Slice(s.fields, func(a, b int) bool { return s.fields[a].name < s.fields[b].name })
	return s
}

func (d *describer) addField(s *structure, f reflect.StructField) {
	tag := strings.Split(f.Tag.Get("json"), ",")
	if tag[0] == "-" {
		return
	}
	if tag[0] == "" && f.Anonymous {
		of := d.add(f.Type)
		for _, inner := range of.fields {
			inner.number = 0
			s.fields = append(s.fields, inner)
		}
		if number := protobufNumber(f); number != 0 {
			s.inlined = append(s.inlined, inlined{number, of})
		}
		for _, inner := range of.inlined {
			if protobufNumber(f) == 0 {
				panic(fmt.Sprintf("%s inlines %s without a number, which inlines others", s.key(), inner.of.key()))
			}
		}
		return
	}
	if tag[0] == "" {
		panic(fmt.Sprintf("%s.%s has no JSON name", s.key(), f.Name))
	}
	described := field{name: tag[0], number: protobufNumber(f), shape: "One", patchKey: f.Tag.Get("patchMergeKey")}
	for _, option := range tag[1:] {
		described.omitEmpty = described.omitEmpty || option == "omitempty"
		described.omitZero = described.omitZero || option == "omitzero"
	}
	for _, strategy := range strings.Split(f.Tag.Get("patchStrategy"), ",") {
		described.patchMerges = described.patchMerges || strategy == "merge"
		described.patchReplaces = described.patchReplaces || strategy == "replace"
		described.patchRetainsKeys = described.patchRetainsKeys || strategy == "retainKeys"
	}
	d.setType(&described, f.Type)
	if described.omitZero && described.scalar != "Time" {
		panic(fmt.Sprintf("%s.%s: only times are known to be left out when zero", s.key(), f.Name))
	}
	s.fields = append(s.fields, described)
}

// The number of a field in the messages of protobuf; 0: it has none.
func protobufNumber(f reflect.StructField) int {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number < 1 || number > 255 {
		panic(fmt.Sprintf("%s has the number %q", f.Name, parts[1]))
	}
	return number
}

// A field is a value, a pointer to one, a list of values or a map of values.
func (d *describer) setType(f *field, t reflect.Type) {
	if _, own := special[t]; !own {
		switch t.Kind() {
		case reflect.Pointer:
			f.pointer = true
			t = t.Elem()
		case reflect.Slice:
			f.shape = "List"
			t = t.Elem()
		case reflect.Map:
			if t.Key().Kind() != reflect.String {
				panic(fmt.Sprintf("%v has other keys than strings", t))
			}
			f.shape = "Map"
			t = t.Elem()
		}
	}
	if name, own := special[t]; own {
		f.scalar = name
		return
	}
	if name, known := plain[t.Kind()]; known {
		f.scalar = name
		return
	}
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("%s: %v is of an unknown kind", f.name, t))
	}
	if t.Implements(reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()) {
		panic(fmt.Sprintf("%v writes itself: say how", t))
	}
	f.scalar = "Struct"
	f.of = d.add(t)
}

// Whether an object has the field, as {}, even if nobody has set it. Of Kubernetes' own types client-go's schema says so.
func (f *field) impliesObject() bool {
	return f.of != nil && f.shape == "One" && !f.pointer
}

// Whether an object has the field, as null, even if nobody has set it.
func (f *field) impliesNull() bool {
	if f.pointer || f.omitZero {
		return false
	}
	isTime := f.shape == "One" && (f.scalar == "Time" || f.scalar == "MicroTime")
	return isTime || (!f.omitEmpty && (f.shape != "One" || f.scalar == "Bytes"))
}
