{{/* The pod template of both kinds. Call it with a dict: root, args, restartPolicy. */}}
{{- define "evenkeel.podTemplate" -}}
{{- $values := .root.Values -}}
metadata:
  {{- include "evenkeel.podMetadata" .root | nindent 2 }}
spec:
  serviceAccountName: {{ include "evenkeel.serviceAccountName" .root }}
  automountServiceAccountToken: {{ $values.automountServiceAccountToken }}
  enableServiceLinks: {{ $values.enableServiceLinks }}
  restartPolicy: {{ .restartPolicy }}
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  {{- with include "evenkeel.imagePullSecrets" .root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- include "evenkeel.podSettings" .root | nindent 2 }}
  {{- with $values.initContainers }}
  initContainers:
  {{- toYaml . | nindent 2 }}
  {{- end }}
  containers:
  - {{ include "evenkeel.container" . | nindent 4 | trim }}
  {{- with $values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  volumes:
  - name: config
    configMap:
      name: {{ include "evenkeel.configMapName" .root }}
  {{- if include "evenkeel.tls" .root }}
  - name: tls
    secret:
      secretName: {{ $values.tls.secretName }}
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The fields of the pod that come from the value of the same name, if it is set. */}}
{{- define "evenkeel.podSettings" -}}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- if kindIs "bool" .Values.hostUsers }}
hostUsers: {{ .Values.hostUsers }}
{{- end }}
{{- range $field := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with get $.Values $field }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
{{- range $field := list "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" }}
{{- with get $.Values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "evenkeel.spread" . }}
topologySpreadConstraints:
{{ . }}
{{- end }}
{{- end }}

{{/* The topology spread constraints. One without a labelSelector counts the pods of the release. */}}
{{- define "evenkeel.spread" -}}
{{- $selector := dict "matchLabels" (include "evenkeel.controllerLabels" . | fromYaml) -}}
{{- $constraints := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $constraints = append $constraints (set . "labelSelector" (.labelSelector | default $selector)) -}}
{{- end -}}
{{- with $constraints -}}
{{ toYaml . }}
{{- end -}}
{{- end }}
