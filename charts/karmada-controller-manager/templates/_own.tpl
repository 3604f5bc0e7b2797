{{- define "own.key" -}}controllerManager{{- end -}}

{{- define "own.helmKubeconfig" -}}{{- end -}}

{{/* The namespace of the Lease in the control plane. */}}
{{- define "own.leaseNamespace" -}}
{{- get .Values.controllerManager.extraCommandArgs "leader-elect-resource-namespace" | default (include "shared.systemNamespace" .) -}}
{{- end -}}

{{/* Upstream's flags, and those of the values. Those of extraCommandArgs win. */}}
{{- define "own.args" -}}
{{- $own := .Values.controllerManager -}}
{{- $flags := dict
  "kubeconfig" (fromYaml (include "shared.kubeconfig" .)).file
  "cluster-status-update-frequency" "10s"
  "leader-elect-resource-namespace" (include "own.leaseNamespace" .)
  "metrics-bind-address" ":8080"
  "health-probe-bind-address" ":10357"
  "v" $own.logVerbosity -}}
{{- if $own.controllers -}}{{- $_ := set $flags "controllers" $own.controllers -}}{{- end -}}
{{- $gates := list -}}
{{- range $gate, $on := $own.featureGates -}}
{{- if not (empty (toString $on)) -}}{{- $gates = append $gates (printf "%s=%v" $gate $on) -}}{{- end -}}
{{- end -}}
{{- if $gates -}}{{- $_ := set $flags "feature-gates" $gates -}}{{- end -}}
{{- if .Values.interpreterAdmission.secretName -}}
{{- $_ := set $flags "interpreter-admission-bind-address" ":8444" -}}
{{- $_ := set $flags "interpreter-admission-tls-cert-file" "/etc/karmada/admission/tls.crt" -}}
{{- $_ := set $flags "interpreter-admission-tls-private-key-file" "/etc/karmada/admission/tls.key" -}}
{{- end -}}
{{- include "shared.args" (dict "flags" $flags "extra" $own.extraCommandArgs) -}}
{{- end -}}
