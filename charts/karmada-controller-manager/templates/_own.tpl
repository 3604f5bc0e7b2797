{{- define "own.key" -}}controllerManager{{- end -}}

{{- define "own.helmKubeconfig" -}}{{- end -}}

{{/* Upstream's flags, and those of the values. Those of extraCommandArgs win. */}}
{{- define "own.args" -}}
{{- $own := .Values.controllerManager -}}
{{- $flags := dict
  "kubeconfig" (fromYaml (include "shared.kubeconfig" .)).file
  "cluster-status-update-frequency" "10s"
  "leader-elect-resource-namespace" .Values.systemNamespace
  "metrics-bind-address" ":8080"
  "health-probe-bind-address" ":10357"
  "v" $own.logVerbosity -}}
{{- if $own.controllers -}}{{- $_ := set $flags "controllers" $own.controllers -}}{{- end -}}
{{- $gates := list -}}
{{- range $gate, $on := $own.featureGates -}}
{{- if not (empty (toString $on)) -}}{{- $gates = append $gates (printf "%s=%v" $gate $on) -}}{{- end -}}
{{- end -}}
{{- if $gates -}}{{- $_ := set $flags "feature-gates" $gates -}}{{- end -}}
{{- include "shared.args" (dict "flags" $flags "extra" $own.extraCommandArgs) -}}
{{- end -}}
