{{/*
Objects of the Prometheus operator, and ConfigMaps that Grafana's sidecar loads. Each chart has its alerts in
files/alerts.yaml, an ordinary rule file of Prometheus, and its dashboards in files/dashboards.
*/}}

{{/* Takes `endpoint`, one of spec.podMetricsEndpoints. The job that Prometheus shows is the chart's name. */}}
{{- define "shared.podMonitor" -}}
{{- $root := .root -}}
{{- $values := $root.Values.podMonitor -}}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: {{ include "shared.fullname" $root }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- merge (fromYaml (include "shared.labels" $root)) ($values.labels | default dict) | toYaml | nindent 4 }}
spec:
  jobLabel: app.kubernetes.io/component
  selector:
    matchLabels:
      {{- include "shared.selector" $root | nindent 6 }}
  podMetricsEndpoints:
  - {{ merge .endpoint (dict "interval" $values.interval) | toYaml | nindent 4 | trim }}
{{- end -}}

{{- define "shared.prometheusRule" -}}
{{- $values := .Values.prometheusRule -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ include "shared.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- merge (fromYaml (include "shared.labels" .)) ($values.labels | default dict) | toYaml | nindent 4 }}
spec:
  {{- .Files.Get "files/alerts.yaml" | replace "docs/on-call.md#" (printf "%s#" $values.runbooks) | fromYaml | toYaml | nindent 2 }}
{{- end -}}

{{- define "shared.dashboards" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "shared.fullname" . }}-dashboards
  namespace: {{ .Release.Namespace }}
  labels:
    {{- merge (fromYaml (include "shared.labels" .)) (.Values.dashboards.labels | default dict) | toYaml | nindent 4 }}
  {{- with .Values.dashboards.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
data:
  {{- (.Files.Glob "files/dashboards/*.json").AsConfig | nindent 2 }}
{{- end -}}
