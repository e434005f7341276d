{{/* The metadata of an object for Prometheus or Grafana. Call it with a dict: root; own, its section of the values; suffix
of its name. The namespace is that of the release unless own has another. */}}
{{- define "evenkeel.monitorMetadata" -}}
{{- $name := printf "%s%s" (include "evenkeel.fullname" .root) (.suffix | default "") -}}
{{- include "evenkeel.metadata" (dict "root" .root "name" $name "namespace" .own.namespace "own" .own) -}}
{{- end }}

{{/* What the endpoints of a ServiceMonitor and of a PodMonitor have in common. Call it with a dict: root, values, key. */}}
{{- define "evenkeel.endpoint" -}}
{{- $tls := (.root.Values.tls).secretName -}}
{{- range $field := list "interval" "scrapeTimeout" -}}
{{- include "evenkeel.match" (list (printf "%s.%s" $.key $field) (get $.values $field) "^([0-9]+(ms|s|m|h|d))+$" "a duration, such as 30s") -}}
{{- end -}}
port: http
path: /metrics
{{- with .values.interval }}
interval: {{ . }}
{{- end }}
{{- with .values.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if .values.honorLabels }}
honorLabels: true
{{- end }}
{{- with .values.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $tls }}
scheme: https
tlsConfig:
  {{- if .values.tlsConfig }}
  {{- toYaml .values.tlsConfig | nindent 2 }}
  {{- else if ne (.values.namespace | default (include "evenkeel.namespace" .root)) (include "evenkeel.namespace" .root) }}
  {{- fail (printf "%s.namespace is %s, but Prometheus reads the CA certificate from Secret %s in the namespace of the monitor (want %s.tlsConfig, or no namespace)" .key .values.namespace $tls .key) }}
  {{- else }}
  # The certificate must be valid for this name, and the Secret must contain the certificate of its CA.
  serverName: {{ include "evenkeel.fullname" .root }}.{{ include "evenkeel.namespace" .root }}.svc
  ca:
    secret:
      name: {{ $tls }}
      key: ca.crt
  {{- end }}
{{- end }}
{{- with .values.authorization }}
authorization:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Rejects monitors that could find no endpoint. Call it with a dict: root, key. */}}
{{- define "evenkeel.checkMonitor" -}}
{{- if ne .root.Values.kind "Deployment" -}}
{{- fail (printf "%s.enabled is true, but the pods of kind CronJob end before anybody reads their metrics (want kind Deployment, or metrics.pushURL)" .key) -}}
{{- end -}}
{{- end }}
