{{/* The container of Evenkeel. Call it with a dict: root, args. */}}
{{- define "evenkeel.container" -}}
{{- $values := .root.Values -}}
name: evenkeel
image: {{ include "evenkeel.image" .root | quote }}
imagePullPolicy: {{ $values.image.pullPolicy }}
args:
{{- concat .args (include "evenkeel.sharedArgs" .root | fromYamlArray) | toYaml | nindent 0 }}
env:
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- with $values.extraEnvFrom }}
envFrom:
{{ toYaml . }}
{{- end }}
securityContext:
  {{- toYaml $values.securityContext | nindent 2 }}
{{- if eq $values.kind "Deployment" }}
ports:
- name: http
  containerPort: 8080
  protocol: TCP
{{- include "evenkeel.probe" (dict "root" .root "name" "livenessProbe" "path" "/livez") }}
{{- include "evenkeel.probe" (dict "root" .root "name" "readinessProbe" "path" "/readyz") }}
{{- end }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
volumeMounts:
- name: config
  mountPath: /etc/evenkeel
  readOnly: true
{{- if include "evenkeel.tls" .root }}
- name: tls
  mountPath: /etc/evenkeel-tls
  readOnly: true
{{- end }}
{{- with $values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The arguments of both kinds after the command, as a list. Those that are not set are absent. */}}
{{- define "evenkeel.sharedArgs" -}}
{{- $args := list -}}
{{- with (.Values.log | default dict).level }}{{ $args = append $args (printf "--log-level=%s" .) }}{{ end -}}
{{- with (.Values.log | default dict).format }}{{ $args = append $args (printf "--log-format=%s" .) }}{{ end -}}
{{- if include "evenkeel.tls" . -}}
{{- $args = concat $args (list "--tls-cert-file=/etc/evenkeel-tls/tls.crt" "--tls-private-key-file=/etc/evenkeel-tls/tls.key") -}}
{{- end -}}
{{- with (.Values.metrics | default dict) -}}
{{- if and .authorize (eq $.Values.kind "Deployment") }}{{ $args = append $args "--authorize-metrics" }}{{ end -}}
{{- with .pushURL }}{{ $args = append $args (printf "--push-url=%s" .) }}{{ end -}}
{{- end -}}
{{- concat $args (.Values.extraArgs | default list) | toYaml -}}
{{- end }}

{{/* True if the pods serve HTTPS. The pods of jobs serve nothing. */}}
{{- define "evenkeel.tls" -}}
{{- if and (eq .Values.kind "Deployment") (.Values.tls | default dict).secretName -}}true{{- end -}}
{{- end }}

{{/* A probe with the settings of the value of its name. Call it with a dict: root, name, path. */}}
{{- define "evenkeel.probe" -}}
{{- $probe := get .root.Values .name -}}
{{- if not (kindIs "invalid" $probe) }}
{{ .name }}:
  httpGet:
    path: {{ .path }}
    port: http
    {{- if include "evenkeel.tls" .root }}
    scheme: HTTPS
    {{- end }}
  {{- with $probe }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
