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

{{/* CustomResourceDefinitions, which stay when the release goes: with them all their objects would. Takes root, glob, only and except. */}}
{{- define "shared.crds" -}}
{{- $only := .only -}}
{{- $except := .except -}}
{{- $found := .root.Files.Glob .glob -}}
{{- if not $found }}{{ fail (printf "the chart lacks %s: package it with 'make charts'" .glob) }}{{ end }}
{{- $names := list }}
{{- range $path, $content := $found }}
{{- $object := fromYaml (toString $content) }}
{{- $name := $object.metadata.name }}
{{- $names = append $names $name }}
{{- if and (or (not $only) (has $name $only)) (not (has $name $except)) }}
{{- $_ := set $object.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") ($object.metadata.annotations | default dict)) }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- range $only }}
{{- if not (has . $names) }}{{ fail (printf "there is no CustomResourceDefinition %s in the chart" .) }}{{ end }}
{{- end }}
{{- end -}}
