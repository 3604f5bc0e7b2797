{{/*
What the Deployments of both programs have in common, and the objects beside them.
*/}}

{{/* spec of a Deployment, but for `template`. */}}
{{- define "shared.deploymentSpec" -}}
{{- $own := get .Values (include "own.key" .) -}}
replicas: {{ $own.replicaCount }}
selector:
  matchLabels:
    {{- include "shared.selector" . | nindent 4 }}
{{- with include "shared.strategy" . }}
strategy:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
The strategy given. Upstream's default starts a new pod before an old one ends; with a hard anti-affinity and no more nodes than
replicas that pod would wait for ever, so there the default is to end an old one first.
*/}}
{{- define "shared.strategy" -}}
{{- $strategy := (get .Values (include "own.key" .)).strategy -}}
{{- $default := dict "type" "RollingUpdate" "rollingUpdate" (dict "maxUnavailable" 0 "maxSurge" "50%") -}}
{{- if and (eq .Values.antiAffinity "hard") (eq (toJson $strategy) (toJson $default)) -}}
{{- $strategy = dict "type" "RollingUpdate" "rollingUpdate" (dict "maxUnavailable" 1 "maxSurge" 0) -}}
{{- end -}}
{{- with $strategy -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* What a pod's spec has before its containers. */}}
{{- define "shared.podSpec" -}}
{{- $own := get .Values (include "own.key" .) -}}
serviceAccountName: {{ include "shared.fullname" . }}
automountServiceAccountToken: {{ eq .Chart.Name "karmada-agent" }}
enableServiceLinks: false
{{- with include "shared.pullSecrets" . }}
{{ . }}
{{- end }}
{{- with $own.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "shared.affinity" . }}
affinity:
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.waitForControlPlane }}
initContainers:
{{ include "shared.waitContainer" . }}
{{- end }}
{{- end -}}

{{/* The affinity given, or one that keeps the replicas on different nodes. */}}
{{- define "shared.affinity" -}}
{{- $own := get .Values (include "own.key" .) -}}
{{- if $own.affinity -}}
{{- toYaml $own.affinity -}}
{{- else if ne .Values.antiAffinity "none" -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (fromYaml (include "shared.selector" .))) -}}
{{- if eq .Values.antiAffinity "hard" -}}
{{- dict "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term)) | toYaml -}}
{{- else -}}
{{- dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list (dict "weight" 100 "podAffinityTerm" $term))) | toYaml -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "shared.securityContext" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "shared.kubeconfigMount" -}}
{{- $kubeconfig := fromYaml (include "shared.kubeconfig" .) -}}
- name: kubeconfig
  readOnly: true
{{- if eq .Values.kubeconfig.layout "helm" }}
  mountPath: {{ $kubeconfig.file }}
  subPath: {{ $kubeconfig.key }}
{{- else }}
  mountPath: {{ dir $kubeconfig.file }}
{{- end }}
{{- end -}}

{{- define "shared.kubeconfigVolume" -}}
- name: kubeconfig
  secret:
    secretName: {{ (fromYaml (include "shared.kubeconfig" .)).secret }}
{{- end -}}

{{/*
The number of the port that a flag has, by extraCommandArgs or by this chart, so that probes and monitors find it; 0 if that turns
it off. Takes root, flag and port.
*/}}
{{- define "shared.port" -}}
{{- $given := get (get .root.Values (include "own.key" .root)).extraCommandArgs .flag -}}
{{- regexFind "[0-9]+$" (kindIs "invalid" $given | ternary "" (toString $given)) | default (toString .port) -}}
{{- end -}}

{{/* As shared.port, of a port that probes need. */}}
{{- define "shared.probedPort" -}}
{{- $number := include "shared.port" . -}}
{{- if eq $number "0" -}}
{{- fail (printf "extraCommandArgs.%s turns the port off that the pod's probes need" .flag) -}}
{{- end -}}
{{- $number -}}
{{- end -}}

{{/* Waits as upstream's chart does, until upstream's installation has noted its version in the control plane. */}}
{{- define "shared.waitContainer" -}}
{{- $kubeconfig := fromYaml (include "shared.kubeconfig" .) -}}
- name: wait
  image: {{ include "shared.kubectlImage" . }}
  imagePullPolicy: {{ .Values.kubectl.image.pullPolicy }}
  command:
  - /bin/sh
  - -c
  - |
    want={{ .Values.karmadaImageVersion | squote }}
    while true; do
      have=$(kubectl --kubeconfig={{ $kubeconfig.file }} --request-timeout=5s -n {{ include "shared.systemNamespace" . }} get configmap karmada-version -o jsonpath='{.data.karmadaVersion}')
      if [ -n "$have" ] && [ "${want:-$have}" = "$have" ]; then
        echo "the control plane is there: karmada-version is $have"
        exit 0
      fi
      echo "waiting for ConfigMap {{ include "shared.systemNamespace" . }}/karmada-version${want:+ to be $want}; it is ${have:-not there}"
      sleep 2
    done
  securityContext:
    {{- include "shared.securityContext" . | nindent 4 }}
  volumeMounts:
  {{- include "shared.kubeconfigMount" . | nindent 2 }}
{{- end -}}

{{- define "shared.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "shared.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "shared.labels" . | nindent 4 }}
automountServiceAccountToken: {{ eq .Chart.Name "karmada-agent" }}
{{- end -}}

{{/* An empty podDisruptionBudget, upstream's default, lets one pod at a time go. */}}
{{- define "shared.podDisruptionBudget" -}}
{{- $own := get .Values (include "own.key" .) -}}
{{- if and (hasKey $own.podDisruptionBudget "minAvailable") (hasKey $own.podDisruptionBudget "maxUnavailable") -}}
{{- fail (printf "%s.podDisruptionBudget: give either minAvailable or maxUnavailable" (include "own.key" .)) -}}
{{- end -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "shared.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "shared.labels" . | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include "shared.selector" . | nindent 6 }}
  {{- $own.podDisruptionBudget | default (dict "maxUnavailable" 1) | toYaml | nindent 2 }}
{{- end -}}

{{/* Takes the number of the port for metrics and a list of those that everybody may reach. */}}
{{- define "shared.networkPolicy" -}}
{{- $root := .root -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "shared.fullname" $root }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "shared.labels" $root | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "shared.selector" $root | nindent 6 }}
  policyTypes: [Ingress{{ if $root.Values.networkPolicy.egress }}, Egress{{ end }}]
  ingress:
  {{- range .ingress }}
  - {{ toYaml . | nindent 4 | trim }}
  {{- end }}
  {{- with $root.Values.networkPolicy.egress }}
  egress:
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
