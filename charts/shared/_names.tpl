{{/*
Names, labels and images. A chart that links these files defines "own.key": the key of its program's values, by
upstream's name (controllerManager, search), and "own.helmKubeconfig": the Secret that upstream's values name for it.
*/}}

{{/* The name of all objects in the hosting cluster: <release>-controller-manager or <release>-search, as upstream's chart has it. */}}
{{- define "shared.fullname" -}}
{{- $suffix := trimPrefix "karmada-" .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if hasSuffix $suffix .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $suffix | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/*
The name of the program's pods. Upstream's operator calls its own pods karmada-controller-manager and karmada-search, which is
what its Services, budgets and waits select, together with the name of the Karmada object. So these are called otherwise.
*/}}
{{- define "shared.name" -}}
{{- printf "karmada-cpp-%s" (trimPrefix "karmada-" .Chart.Name) -}}
{{- end -}}

{{/* What selects the pods of this release, and no pods of upstream's installers. */}}
{{- define "shared.selector" -}}
{{- dict "app.kubernetes.io/name" (include "shared.name" .) "app.kubernetes.io/instance" .Release.Name | toYaml -}}
{{- end -}}

{{/* The labels of all objects but pods. */}}
{{- define "shared.labels" -}}
{{- $own := get .Values (include "own.key" .) -}}
{{- $labels := fromYaml (include "shared.selector" .) -}}
{{- $_ := set $labels "app.kubernetes.io/component" .Chart.Name -}}
{{- $_ := set $labels "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $labels "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- merge $labels ($own.labels | default dict) (.Values.global.commonLabels | default dict) | toYaml -}}
{{- end -}}

{{/*
The labels of pods. They lack those of `labels`: upstream's Services, budgets and anti-affinities select pods by them, and these
pods are neither behind its Services nor counted by its budgets.
*/}}
{{- define "shared.podLabels" -}}
{{- $own := get .Values (include "own.key" .) -}}
{{- $labels := merge (fromYaml (include "shared.selector" .)) (dict "app.kubernetes.io/component" .Chart.Name) ($own.podLabels | default dict) (.Values.global.commonLabels | default dict) -}}
{{- $upstream := $own.labels | default (dict "app" .Chart.Name) -}}
{{- $selected := true -}}
{{- range $key, $value := $upstream -}}
{{- if ne (get $labels $key) $value -}}{{- $selected = false -}}{{- end -}}
{{- end -}}
{{- if $selected -}}
{{- fail (printf "the pods would have all labels of %s.labels, by which upstream's Services, budgets and anti-affinities select upstream's pods: take them out of podLabels and global.commonLabels" (include "own.key" .)) -}}
{{- end -}}
{{- toYaml $labels -}}
{{- end -}}

{{/*
The namespace of the control plane in which upstream's program of this layout keeps its Lease: karmadactl's is the one in which
`karmadactl init` has installed everything, the others' is karmada-system unless their values say otherwise.
*/}}
{{- define "shared.systemNamespace" -}}
{{- .Values.systemNamespace | default (eq .Values.kubeconfig.layout "karmadactl" | ternary .Release.Namespace "karmada-system") -}}
{{- end -}}

{{/*
The program's image. What upstream's values call it overrides `image`, unless it is upstream's own image, which a values
file of upstream's chart names: with it this chart would start another program. As with upstream's chart,
global.imageRegistry goes before the registry of upstream's key; it does not go before `image.registry`.
*/}}
{{- define "shared.image" -}}
{{- $image := .Values.image -}}
{{- $registry := $image.registry | default .Values.global.imageRegistry -}}
{{- $own := (get .Values (include "own.key" .)).image | default dict -}}
{{- $isUpstream := and (eq ($own.repository | default "") (printf "karmada/%s" .Chart.Name)) (has ($own.registry | default "docker.io") (list "docker.io" "index.docker.io")) -}}
{{- if not $isUpstream -}}
{{- $given := dict -}}
{{- range $key, $value := pick $own "registry" "repository" "tag" -}}
{{- if $value -}}{{- $_ := set $given $key $value -}}{{- end -}}
{{- end -}}
{{- if $given.registry -}}{{- $registry = .Values.global.imageRegistry | default $given.registry -}}{{- end -}}
{{- $image = merge $given $image -}}
{{- end -}}
{{- $name := empty $registry | ternary $image.repository (printf "%s/%s" $registry $image.repository) -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name ($image.tag | default (printf "v%s" .Chart.AppVersion)) -}}
{{- end -}}
{{- end -}}

{{/* The image with kubectl and a shell that the wait for the control plane needs. */}}
{{- define "shared.kubectlImage" -}}
{{- $image := .Values.kubectl.image -}}
{{- $repository := $image.repository | required "waitForControlPlane needs an image with kubectl and a shell: name it in kubectl.image" -}}
{{- $registry := .Values.global.imageRegistry | default $image.registry -}}
{{- printf "%s:%s" (empty $registry | ternary $repository (printf "%s/%s" $registry $repository)) $image.tag -}}
{{- end -}}

{{- define "shared.pullSecrets" -}}
{{- $own := (get .Values (include "own.key" .)).image | default dict -}}
{{- $names := concat (.Values.global.imagePullSecrets | default list) ($own.pullSecrets | default list) | uniq -}}
{{- if $names -}}
imagePullSecrets:
{{- range $names }}
- name: {{ . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The prefix that upstream's operator puts before the names of one Karmada's objects. */}}
{{- define "shared.operatorPrefix" -}}
{{- $instance := .Values.kubeconfig.instance -}}
{{- contains "karmada" $instance | ternary $instance (printf "%s-karmada" $instance) -}}
{{- end -}}

{{/* {secret, key, file}: where the kubeconfig for the control plane is, by who has installed the control plane. */}}
{{- define "shared.kubeconfig" -}}
{{- $given := .Values.kubeconfig -}}
{{- $component := trimPrefix "karmada-" .Chart.Name -}}
{{- $directory := "/etc/karmada/config" -}}
{{- $standard := dict "secret" (printf "%s-config" .Chart.Name) "key" "karmada.config" -}}
{{- $layouts := dict
  "artifacts" $standard
  "karmadactl" $standard
  "operator" (dict "secret" (printf "%s-%s-config" (include "shared.operatorPrefix" .) $component) "key" "karmada.config")
  "helm" (dict "secret" (include "own.helmKubeconfig" . | default (printf "%s-kubeconfig" $given.instance)) "key" "kubeconfig" "file" "/etc/kubeconfig") -}}
{{- $found := get $layouts $given.layout -}}
{{- $key := $given.key | default $found.key -}}
{{- $file := $found.file | default (printf "%s/%s" $directory $key) -}}
{{- dict "secret" ($given.secretName | default $found.secret) "key" $key "file" $file | toYaml -}}
{{- end -}}

{{/*
A command line: `flags`, and `extra`, which win. Sorted; numbers are written as they are in the values file, lists with commas.
*/}}
{{- define "shared.args" -}}
{{- $flags := .flags -}}
{{- range $flag, $value := .extra }}{{ $_ := set $flags $flag $value }}{{ end -}}
{{- range $flag, $value := $flags }}
{{- if kindIs "slice" $value }}
{{- $value = join "," $value }}
{{- else if and (kindIs "float64" $value) (eq (floor $value) $value) }}
{{- $value = int64 $value }}
{{- end }}
- {{ printf "--%s=%v" $flag $value | quote }}
{{- end }}
{{- end -}}
