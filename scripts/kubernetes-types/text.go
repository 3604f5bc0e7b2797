package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const header = `// The structs of k8s.io/api and k8s.io/apimachinery v0.37.2, and of Karmada v1.18.2, as types.h describes them.
// Made by scripts/kubernetes-types; do not edit.
`

type kind struct {
	name, group, version string
	of                   *structure
}

func compareKinds(a, b kind) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.group, b.group), cmp.Compare(a.version, b.version))
}

func (s *structure) symbol() string { return s.group + "_" + s.version + "_" + s.name }

// Writes merge rules once each, under a name made of what they say, then the structs and the kinds.
func writeTable(out io.Writer, structs []*structure, kinds []kind) {
	fmt.Fprint(out, header)
	rules := map[string]string{}
	for _, s := range structs {
		for _, f := range s.fields {
			if name := f.ruleName(); name != "" {
				rules[name] = f.ruleText(name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprint(out, rules[name])
	}
	for _, s := range structs {
		fmt.Fprintf(out, "extern const Struct %s;\n", s.symbol())
	}
	for _, s := range structs {
		writeStruct(out, s)
	}
	fmt.Fprint(out, "// By name, group and version.\nconstexpr Kind kKinds[] = {\n")
	for _, k := range kinds {
		fmt.Fprintf(out, "    {%q, %q, %q, &%s},\n", k.name, k.group, k.version, k.of.symbol())
	}
	fmt.Fprint(out, "};\n")
}

func writeStruct(out io.Writer, s *structure) {
	fields, inlines := "{}", "{}"
	if len(s.fields) > 0 {
		fields = s.symbol() + "_fields"
		fmt.Fprintf(out, "constexpr Field %s[] = {\n", fields)
		for _, f := range s.fields {
			fmt.Fprintf(out, "    {%q, %s},\n", f.name, strings.Join(f.words(), ", "))
		}
		fmt.Fprint(out, "};\n")
	}
	if len(s.inlined) > 0 {
		inlines = s.symbol() + "_inlined"
		fmt.Fprintf(out, "constexpr Inlined %s[] = {", inlines)
		for i, part := range s.inlined {
			if i > 0 {
				fmt.Fprint(out, ", ")
			}
			fmt.Fprintf(out, "{%d, &%s}", part.number, part.of.symbol())
		}
		fmt.Fprint(out, "};\n")
	}
	fmt.Fprintf(out, "constexpr Struct %s = {%q, %q, %q, %s, %s, %v};\n", s.symbol(), s.group, s.version, s.name, fields, inlines,
		s.atomic)
}

// What follows a field's name: its type, its shape, its place, its number, its options, its struct and its rule.
func (f *field) words() []string {
	var options []string
	for _, option := range []struct {
		holds bool
		name  string
	}{{f.pointer, "kPointer"}, {f.omitEmpty, "kOmitEmpty"}, {f.omitZero, "kOmitZero"}} {
		if option.holds {
			options = append(options, option.name)
		}
	}
	if len(options) == 0 {
		options = []string{"0"}
	}
	words := []string{"k" + f.scalar, "k" + f.shape, fmt.Sprint(f.place), fmt.Sprint(f.number), strings.Join(options, " | ")}
	of, rule := "nullptr", f.ruleName()
	if f.of != nil {
		of = "&" + f.of.symbol()
	}
	if rule != "" {
		return append(words, of, "&"+rule)
	}
	if f.of != nil {
		return append(words, of)
	}
	return words
}

// "" for a field without rules.
func (f *field) ruleName() string {
	var words []string
	for _, key := range f.merge.keys {
		words = append(words, "key_"+key.name)
		if key.otherwise == nil {
			words = append(words, "required")
		}
	}
	for _, flag := range f.ruleFlags() {
		words = append(words, flag.name)
	}
	if f.patchKey != "" {
		words = append(words, "by_"+f.patchKey)
	}
	if len(words) == 0 {
		return ""
	}
	return "rule_" + strings.Join(words, "_")
}

type ruleFlag struct{ name, member string }

func (f *field) ruleFlags() []ruleFlag {
	var set []ruleFlag
	for _, flag := range []struct {
		holds bool
		ruleFlag
	}{
		{f.merge.set, ruleFlag{"set", "set"}},
		{f.merge.atomic, ruleFlag{"atomic", "atomic"}},
		{f.merge.impliedObject, ruleFlag{"object", "implied_object"}},
		{f.merge.impliedNull, ruleFlag{"null", "implied_null"}},
		{f.patchMerges, ruleFlag{"merged", "patch_merges"}},
		{f.patchReplaces, ruleFlag{"replaced", "patch_replaces"}},
		{f.patchRetainsKeys, ruleFlag{"retained", "patch_retains_keys"}},
	} {
		if flag.holds {
			set = append(set, flag.ruleFlag)
		}
	}
	return set
}

func (f *field) ruleText(name string) string {
	text := ""
	var members []string
	if len(f.merge.keys) > 0 {
		var keys []string
		for _, key := range f.merge.keys {
			keys = append(keys, fmt.Sprintf("{%q, %s}", key.name, otherwiseText(key.otherwise)))
		}
		text = fmt.Sprintf("constexpr ListKey %s_keys[] = {%s};\n", name, strings.Join(keys, ", "))
		members = append(members, ".keys = "+name+"_keys")
	}
	for _, flag := range f.ruleFlags() {
		members = append(members, "."+flag.member+" = true")
	}
	if f.patchKey != "" {
		members = append(members, fmt.Sprintf(".patch_key = %q", f.patchKey))
	}
	return text + fmt.Sprintf("constexpr Merge %s = {%s};\n", name, strings.Join(members, ", "))
}

func otherwiseText(value any) string {
	switch v := value.(type) {
	case nil:
		return "kNothing"
	case string:
		return fmt.Sprintf("kText, %q", v)
	case int:
		if v == 0 {
			return "kZero"
		}
	}
	panic(fmt.Sprintf("%v is no known default of a list's key", value))
}
