{{/* The manager's configuration file. */}}
{{- define "lws.configuration" -}}
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  port: {{ .Values.service.port }}
  certDir: /tmp/k8s-webhook-server/serving-certs
leaderElection:
  {{- $election := dict "leaderElect" true "resourceName" (include "lws.lease" .) }}
  {{- mergeOverwrite $election .Values.leaderElection | toYaml | nindent 2 }}
metrics:
  bindAddress: ":{{ .Values.metrics.port }}"
health:
  healthProbeBindAddress: ":{{ .Values.health.port }}"
{{- with include "lws.provider" . }}
gangSchedulingManagement:
  schedulerProvider: {{ . }}
{{- end }}
{{- with .Values.clientConnection }}
clientConnection:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tls }}
tls:
  {{- toYaml . | nindent 2 }}
{{- end }}
internalCertManagement:
  {{- if .Values.enableCertManager }}
  enable: false
  {{- else }}
  enable: true
  webhookServiceName: lws-webhook-service
  webhookSecretName: lws-webhook-server-cert
  {{- end }}
{{- end }}
