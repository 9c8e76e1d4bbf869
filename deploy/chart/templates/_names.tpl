{{/* The chart's name in labels. */}}
{{- define "lws.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* What every name begins with: fullnameOverride, or the release's name with the chart's in it. */}}
{{- define "lws.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $both := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{ .Values.fullnameOverride | default $both | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "lws.manager" -}}
{{ include "lws.fullname" . }}-controller-manager
{{- end }}

{{/* What pods are found by; never changed, for a Deployment keeps its selector for life. */}}
{{- define "lws.selector" -}}
control-plane: controller-manager
app.kubernetes.io/name: {{ include "lws.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lws.labels" -}}
app.kubernetes.io/name: {{ include "lws.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{/* The Lease's name, in the configuration and in the Role alike. */}}
{{- define "lws.lease" -}}
{{ .Values.leaderElection.resourceName | default "b8b2488c.x-k8s.io" }}
{{- end }}

{{- define "lws.image" -}}
{{ .Values.image.manager.repository }}:{{ .Values.image.manager.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Are CRDs part of this rendering? */}}
{{- define "lws.crds" -}}
{{- if and .Values.crds.install (or .Values.crdUpgrade.enabled .Release.IsInstall) }}yes{{ end }}
{{- end }}

{{- define "lws.provider" -}}
{{ (.Values.gangSchedulingManagement | default dict).schedulerProvider | default "" }}
{{- end }}

{{/* Names of feature gates that are turned on, by a text or by a map. */}}
{{- define "lws.gates" -}}
{{- $on := list -}}
{{- if kindIs "map" .Values.featureGates -}}
{{- range $name, $value := .Values.featureGates -}}
{{- if $value }}{{ $on = append $on $name }}{{ end -}}
{{- end -}}
{{- else -}}
{{- range splitList "," (.Values.featureGates | default "" | nospace) -}}
{{- if hasSuffix "=true" . }}{{ $on = append $on (trimSuffix "=true" .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ join ", " $on }}
{{- end }}

{{/* What a schema cannot say. */}}
{{- define "lws.check" -}}
{{- with include "lws.gates" . -}}
{{- fail (printf "featureGates: there is no gate %s; remove it, or set it to false" .) -}}
{{- end -}}
{{- $tls := .Values.tls -}}
{{- if and $tls.cipherSuites (eq ($tls.minVersion | default "") "VersionTLS13") -}}
{{- fail "tls.cipherSuites: can be chosen only with minVersion VersionTLS12; remove one of the two" -}}
{{- end -}}
{{- $ports := list (int .Values.service.port) (int .Values.metrics.port) (int .Values.health.port) | uniq -}}
{{- if lt (len $ports) 3 -}}
{{- fail "service.port, metrics.port and health.port: must be three different ports" -}}
{{- end -}}
{{- end }}
