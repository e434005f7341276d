{{/* The metadata of an object for Prometheus or Grafana. Call it with a dict: root; own, its section of the values; suffix
of its name. The namespace is that of the release unless own has another. */}}
{{- define "evenkeel.monitorMetadata" -}}
{{- $name := printf "%s%s" (include "evenkeel.fullname" .root) (.suffix | default "") -}}
{{- include "evenkeel.metadata" (dict "root" .root "name" $name "namespace" .own.namespace "labels" .own.labels "annotations" .own.annotations) -}}
{{- end }}

{{/* The endpoint of the monitor, with a certificate and a token unless metrics.monitor.endpoint has its own. */}}
{{- define "evenkeel.endpoint" -}}
{{- $monitor := .Values.metrics.monitor -}}
{{- $own := $monitor.endpoint | default dict -}}
{{- $endpoint := dict "port" "http" "path" "/metrics" -}}
{{- with $monitor.interval }}{{ $_ := set $endpoint "interval" . }}{{ end -}}
{{- with (.Values.tls).secretName -}}
{{- $_ := set $endpoint "scheme" "https" -}}
{{- if not $own.tlsConfig -}}
{{- if ne ($monitor.namespace | default (include "evenkeel.namespace" $)) (include "evenkeel.namespace" $) -}}
{{- fail (printf "metrics.monitor.namespace is %s, but Prometheus reads the CA certificate from Secret %s in the namespace of the monitor (want metrics.monitor.endpoint.tlsConfig, or no namespace)" $monitor.namespace .) -}}
{{- end -}}
{{- /* The certificate must be valid for this name, and the Secret must contain the certificate of its CA. */ -}}
{{- $name := printf "%s.%s.svc" (include "evenkeel.fullname" $) (include "evenkeel.namespace" $) -}}
{{- $_ := set $endpoint "tlsConfig" (dict "serverName" $name "ca" (dict "secret" (dict "name" . "key" "ca.crt"))) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.authorize (not (pick $own "authorization" "bearerTokenSecret" "oauth2")) -}}
{{- if eq $monitor.kind "PodMonitor" -}}
{{- fail "metrics.authorize is true, but a PodMonitor cannot use the token of Prometheus itself (want metrics.monitor.endpoint.authorization with a Secret, or metrics.monitor.kind: ServiceMonitor)" -}}
{{- end -}}
{{- /* The token of Prometheus itself. metrics.readers grants its ServiceAccount access. */ -}}
{{- $_ := set $endpoint "bearerTokenFile" "/var/run/secrets/kubernetes.io/serviceaccount/token" -}}
{{- end -}}
{{- mergeOverwrite $endpoint $own | toYaml -}}
{{- end }}
