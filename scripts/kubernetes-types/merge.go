package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v2"
	_ "k8s.io/client-go/applyconfigurations" // Its schema, which only a file has, is of the version that go.mod pins.
)

// How server-side apply merges a field.
type mergeRule struct {
	keys                       []listKey // Not empty: the list is a map.
	set, atomic                bool
	impliedObject, impliedNull bool
}

// What tells the items of a list apart, and what an item has that lacks it: nil, a string or 0.
type listKey struct {
	name      string
	otherwise any
}

type structRules struct {
	known  bool // The schema has the struct.
	atomic bool
	fields map[string]mergeRule
}

// By the name of a type.
type mergeSchema map[string]mergeType

type mergeType struct {
	Name string
	Map  mergeMap
}

type mergeMap struct {
	ElementRelationship string `yaml:"elementRelationship"`
	Fields              []struct {
		Name    string
		Default any
		Type    mergeFieldType
	}
}

type mergeFieldType struct {
	ElementRelationship string `yaml:"elementRelationship"`
	Map                 mergeMap
	List                struct {
		ElementRelationship string `yaml:"elementRelationship"`
		Keys                []string
		ElementType         struct {
			NamedType string `yaml:"namedType"`
		} `yaml:"elementType"`
	}
}

// Reads the schema that client-go has for apply configurations. It is a text in the source of a package that others cannot import.
func readMergeSchema() (mergeSchema, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		return nil, fmt.Errorf("go list k8s.io/client-go: %w", err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "applyconfigurations", "internal", "internal.go"))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(source), "YAMLObject(`")
	text, _, found := strings.Cut(rest, "`)")
	if !found {
		return nil, fmt.Errorf("client-go no longer has its schema in internal.go")
	}
	var read struct{ Types []mergeType }
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		return nil, err
	}
	schema := mergeSchema{}
	for _, t := range read.Types {
		schema[t.Name] = t
	}
	return schema, nil
}

// What the schema says of a struct; nothing of those that it lacks.
func (s mergeSchema) of(t reflect.Type) structRules {
	described, known := s["io."+strings.NewReplacer("k8s.io", "k8s", "/", ".").Replace(t.PkgPath())+"."+t.Name()]
	rules := structRules{known: known, atomic: described.Map.ElementRelationship == "atomic", fields: map[string]mergeRule{}}
	for _, f := range described.Map.Fields {
		rule := mergeRule{atomic: f.Type.ElementRelationship == "atomic" || f.Type.Map.ElementRelationship == "atomic"}
		if object, is := f.Default.(map[any]any); is {
			rule.impliedObject = len(object) == 0
		}
		if f.Type.List.ElementRelationship == "associative" {
			rule.set = len(f.Type.List.Keys) == 0
			for _, key := range f.Type.List.Keys {
				rule.keys = append(rule.keys, listKey{key, s.defaultOf(f.Type.List.ElementType.NamedType, key)})
			}
		}
		rules.fields[f.Name] = rule
	}
	return rules
}

func (s mergeSchema) defaultOf(name, field string) any {
	for _, f := range s[name].Map.Fields {
		if f.Name == field {
			return f.Default
		}
	}
	panic(fmt.Sprintf("%s has no field %s", name, field))
}
