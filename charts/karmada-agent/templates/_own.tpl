{{- define "own.key" -}}agent{{- end -}}

{{- define "own.helmKubeconfig" -}}{{- end -}}

{{/* {secret, key} of the kubeconfig for the control plane. */}}
{{- define "own.kubeconfig" -}}
{{- $given := .Values.kubeconfigSecret -}}
{{- dict "secret" ($given.name | default (printf "%s-kubeconfig" (include "shared.fullname" .))) "key" (empty $given.name | ternary "kubeconfig" $given.key) | toYaml -}}
{{- end -}}

{{/* Upstream's flags, and those of the values. Those of extraCommandArgs win. */}}
{{- define "own.args" -}}
{{- $own := .Values.agent -}}
{{- $flags := dict
  "cluster-status-update-frequency" "10s"
  "metrics-bind-address" ":8080"
  "health-probe-bind-address" ":10357"
  "v" $own.logVerbosity -}}
{{- if .Values.clusters.fromSecrets -}}
{{- if $own.clusterName -}}{{- fail "clusters.fromSecrets: agent.clusterName is the name of a single cluster" -}}{{- end -}}
{{- $_ := set $flags "clusters-from-secrets" .Values.clusters.fromSecrets -}}
{{- $_ := set $flags "hosting-namespace" .Release.Namespace -}}
{{- if .Values.clusters.shard -}}{{- $_ := set $flags "shard-clusters" true -}}{{- end -}}
{{- else -}}
{{- if .Values.clusters.shard -}}{{- fail "clusters.shard needs clusters.fromSecrets" -}}{{- end -}}
{{- $_ := set $flags "karmada-kubeconfig" (printf "/etc/kubeconfig/%s" (fromYaml (include "own.kubeconfig" .)).key) -}}
{{- $_ := set $flags "cluster-name" ($own.clusterName | required "agent.clusterName is empty: name this cluster") -}}
{{- $_ := set $flags "leader-elect-resource-namespace" (.Values.systemNamespace | default .Release.Namespace) -}}
{{- end -}}
{{- if $own.clusterEndpoint -}}{{- $_ := set $flags "cluster-api-endpoint" $own.clusterEndpoint -}}{{- end -}}
{{- include "shared.args" (dict "flags" $flags "extra" $own.extraCommandArgs) -}}
{{- end -}}

{{/*
The rules of the role. Those of the repository are for a cluster named "cluster" and, where kinds are named, for one kind of the group
"example", in whose place the given ones come.
*/}}
{{- define "own.rules" -}}
{{- $kinds := .Values.rights.kinds -}}
{{- $name := .Values.agent.clusterName -}}
{{- $file := empty $kinds | ternary "files/rbac/karmada-agent.yaml" "files/rbac/karmada-agent-named-kinds.yaml" -}}
{{- $role := splitList "\n---\n" (.Files.Get $file | required (printf "the chart lacks %s: package it with 'make charts'" $file)) | first | fromYaml -}}
{{- $rules := list -}}
{{- range $rule := $role.rules -}}
{{- if has "example" ($rule.apiGroups | default list) -}}
{{- range $kind := $kinds -}}
{{- if hasSuffix ".rbac.authorization.k8s.io" $kind -}}
{{- fail (printf "rights.kinds: %s grants rights, for which the agent needs more than this chart gives it: use rights.role: none, and the role that 'karmada-agent permissions' prints" $kind) -}}
{{- end -}}
{{- $words := splitn "." 2 $kind -}}
{{- $rules = append $rules (dict "apiGroups" (list ($words._1 | default "")) "resources" (list $words._0) "verbs" $rule.verbs) -}}
{{- end -}}
{{- else -}}
{{- if hasKey $rule "resourceNames" -}}
{{- $names := list -}}
{{- range $rule.resourceNames -}}{{- $names = append $names (regexReplaceAll "karmada-cluster$" . (printf "karmada-%s" $name)) -}}{{- end -}}
{{- $_ := set $rule "resourceNames" $names -}}
{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}
