{{/*
What belongs into the control plane and not into the cluster that hosts its containers. The manifests are those of the
repository (files/), which a package of the chart contains.
*/}}

{{/* Rights: the documents of a file, with `user` as the subject of the bindings. Takes root, file and user. */}}
{{- define "shared.rights" -}}
{{- $root := .root -}}
{{- $user := .user -}}
{{- range $document := splitList "\n---\n" ($root.Files.Get .file | required (printf "the chart lacks %s: package it with 'make charts'" .file)) }}
{{- $object := fromYaml $document }}
{{- range $object.subjects }}
{{- if eq .kind "User" }}{{ $_ := set . "name" $user }}{{ end }}
{{- end }}
{{- $_ := set $object.metadata "labels" (dict "app.kubernetes.io/name" (include "shared.name" $root) "app.kubernetes.io/managed-by" $root.Release.Service) }}
---
{{ toYaml $object }}
{{- end }}
{{- end -}}

{{/*
CustomResourceDefinitions, which stay when the release goes: with them all their objects would. Takes root, glob, only, except and instead: a
glob of files that take the place of those of the same name, "" for none. One that would take fields away which the control plane serves is
refused: the API server would remove them from all objects. Without a control plane (helm template) there is nothing to compare with.
*/}}
{{- define "shared.crds" -}}
{{- $only := .only -}}
{{- $except := .except -}}
{{- $found := dict -}}
{{- range $glob := compact (list .glob .instead) }}
{{- $files := $.root.Files.Glob $glob }}
{{- if not $files }}{{ fail (printf "the chart lacks %s: package it with 'make charts'" $glob) }}{{ end }}
{{- range $path, $content := $files }}{{ $_ := set $found (base $path) (toString $content) }}{{ end }}
{{- end }}
{{- $names := list }}
{{- range $file, $content := $found }}
{{- $object := fromYaml $content }}
{{- $name := $object.metadata.name }}
{{- $names = append $names $name }}
{{- if and (or (not $only) (has $name $only)) (not (has $name $except)) }}
{{- $lost := include "shared.lostFields" $object | trim }}
{{- if $lost }}{{ fail (printf "the definition of %s in the control plane has fields that this chart's lacks, and that would be removed from all objects: %s. Leave the definition as it is (controlPlane.crds.except), or use a chart that knows these fields" $name $lost) }}{{ end }}
{{- $_ := set $object.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") ($object.metadata.annotations | default dict)) }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- range $only }}
{{- if not (has . $names) }}{{ fail (printf "there is no CustomResourceDefinition %s in the chart" .) }}{{ end }}
{{- end }}
{{- end -}}

{{/* The fields that the control plane serves of a definition's versions, and that the definition, which this takes, lacks: "v1: spec.a". */}}
{{- define "shared.lostFields" -}}
{{- $served := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .metadata.name -}}
{{- $versions := .spec.versions -}}
{{- range $live := dig "spec" "versions" list $served }}
{{- range $mine := $versions }}
{{- if eq $mine.name $live.name }}
{{- $lost := include "shared.lostProperties" (dict "live" $live.schema.openAPIV3Schema "mine" $mine.schema.openAPIV3Schema "path" "") | trim }}
{{- if $lost }} {{ $live.name }}: {{ $lost }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The paths of the properties of the schema `live` that the schema `mine` lacks, below the path. */}}
{{- define "shared.lostProperties" -}}
{{- $mine := .mine | default dict -}}
{{- $path := .path -}}
{{- $keeps := get $mine "x-kubernetes-preserve-unknown-fields" -}}
{{- range $name, $live := .live.properties | default dict }}
{{- $properties := $mine.properties | default dict }}
{{- if hasKey $properties $name }}
{{- include "shared.lostProperties" (dict "live" $live "mine" (get $properties $name) "path" (printf "%s%s." $path $name)) }}
{{- else if not $keeps }} {{ $path }}{{ $name }}{{ end }}
{{- end }}
{{- range $part := list "items" "additionalProperties" }}
{{- $live := get $.live $part }}
{{- if kindIs "map" $live }}
{{- $other := get $mine $part }}
{{- include "shared.lostProperties" (dict "live" $live "mine" (kindIs "map" $other | ternary $other (dict "x-kubernetes-preserve-unknown-fields" $keeps)) "path" $path) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The release of Karmada whose definitions the control plane has, by what only they have; v1.18 when it has none, or none to look at. */}}
{{- define "shared.servedRelease" -}}
{{- $bindings := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "resourcebindings.work.karmada.io" -}}
{{- $release := "v1.18" -}}
{{- range dig "spec" "versions" list $bindings }}
{{- $cluster := dig "schema" "openAPIV3Schema" "properties" "spec" "properties" "clusters" "items" "properties" dict . }}
{{- if hasKey $cluster "components" }}{{ $release = "v1.19" }}{{ end }}
{{- end }}
{{- $release -}}
{{- end -}}
