{{- define "own.key" -}}search{{- end -}}

{{- define "own.helmKubeconfig" -}}
{{- if eq .Values.installMode "component" }}{{ .Values.search.kubeconfig }}{{ end -}}
{{- end -}}

{{/*
{serving: {secret, certificate, key, directory}, etcd: {secret, ca, certificate, key, directory, servers, prefix}}: where the
files are, by who has installed the control plane, and what the values name instead.
*/}}
{{- define "own.files" -}}
{{- $instance := .Values.kubeconfig.instance -}}
{{- $prefix := include "shared.operatorPrefix" . -}}
{{- $domain := printf "%s.svc.%s:2379" .Release.Namespace .Values.clusterDomain -}}
{{- $tls := dict "certificate" "tls.crt" "key" "tls.key" -}}
{{- $karmada := dict "certificate" "karmada.crt" "key" "karmada.key" -}}
{{- $client := dict "ca" "etcd-ca.crt" "certificate" "etcd-client.crt" "key" "etcd-client.key" -}}
{{- $layouts := dict
  "artifacts" (dict
    "serving" (merge (dict "secret" "karmada-search-cert" "directory" "/etc/karmada/pki/server") $tls)
    "etcd" (merge (dict "secret" "karmada-search-etcd-client-cert" "directory" "/etc/karmada/pki/etcd-client" "ca" "ca.crt"
      "servers" (printf "https://etcd-client.%s" $domain)) $tls))
  "karmadactl" (dict
    "serving" (merge (dict "secret" "karmada-cert" "directory" "/etc/karmada/pki/server") $karmada)
    "etcd" (merge (dict "secret" "karmada-cert" "directory" "/etc/karmada/pki/etcd-client"
      "servers" (printf "https://etcd-0.etcd.%s" $domain)) $client))
  "operator" (dict
    "serving" (merge (dict "secret" (printf "%s-cert" $prefix) "directory" "/etc/karmada/pki/server") $karmada)
    "etcd" (merge (dict "secret" (printf "%s-etcd-cert" $prefix) "directory" "/etc/karmada/pki/etcd-client"
      "servers" (printf "https://%s-etcd-client.%s" $prefix $domain)) $client))
  "helm" (dict
    "serving" (merge (dict "secret" (printf "%s-cert" $instance) "directory" "/etc/kubernetes/pki") $karmada)
    "etcd" (merge (dict "secret" (printf "%s-cert" $instance) "directory" "/etc/etcd/pki" "ca" "server-ca.crt"
      "servers" (printf "https://etcd-client.%s" $domain)) $karmada)) -}}
{{- $files := get $layouts .Values.kubeconfig.layout -}}
{{- if and (eq .Values.kubeconfig.layout "helm") (eq .Values.installMode "component") -}}
{{- $_ := set $files.serving "secret" .Values.search.certs -}}
{{- end -}}
{{- if eq .Values.etcd.mode "external" -}}
{{- if eq .Values.kubeconfig.layout "helm" -}}
{{- $_ := set $files "etcd" (merge (dict "secret" (printf "%s-external-etcd-cert" $instance) "ca" "ca.crt") $tls $files.etcd) -}}
{{- end -}}
{{- $_ := set $files.etcd "servers" .Values.etcd.external.servers -}}
{{- $_ := set $files.etcd "prefix" .Values.etcd.external.registryPrefix -}}
{{- end -}}
{{- range $part, $given := dict "serving" .Values.serving "etcd" .Values.etcdClient -}}
{{- range $key, $value := $given -}}
{{- if $value -}}{{- $_ := set (get $files $part) (eq $key "secretName" | ternary "secret" $key) $value -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $files -}}
{{- end -}}

{{/* The keys of a Secret that a volume has. */}}
{{- define "own.items" -}}
{{- range . }}
- key: {{ . }}
  path: {{ . }}
{{- end }}
{{- end -}}

{{/* The flags; those of search.extraCommandArgs win. */}}
{{- define "own.args" -}}
{{- $kubeconfig := (fromYaml (include "shared.kubeconfig" .)).file -}}
{{- $files := fromYaml (include "own.files" .) -}}
{{- $serving := $files.serving -}}
{{- $flags := dict
  "kubeconfig" $kubeconfig "authentication-kubeconfig" $kubeconfig "authorization-kubeconfig" $kubeconfig
  "tls-cert-file" (printf "%s/%s" $serving.directory $serving.certificate)
  "tls-private-key-file" (printf "%s/%s" $serving.directory $serving.key)
  "tls-min-version" "VersionTLS13"
  "secure-port" 5443
  "shutdown-delay-duration" "10s"
  "v" .Values.search.logVerbosity -}}
{{- if eq .Values.registryStorage "custom-resources" -}}
{{- $_ := set $flags "registry-storage" "custom-resources" -}}
{{- else -}}
{{- $etcd := $files.etcd -}}
{{- $flags = merge $flags (dict
  "etcd-servers" ($etcd.servers | required "etcd.mode is external: name the servers in etcd.external.servers")
  "etcd-cafile" (printf "%s/%s" $etcd.directory $etcd.ca)
  "etcd-certfile" (printf "%s/%s" $etcd.directory $etcd.certificate)
  "etcd-keyfile" (printf "%s/%s" $etcd.directory $etcd.key)) -}}
{{- if $etcd.prefix -}}{{- $_ := set $flags "etcd-prefix" $etcd.prefix -}}{{- end -}}
{{- end -}}
{{- include "shared.args" (dict "flags" $flags "extra" .Values.search.extraCommandArgs) -}}
{{- end -}}
