{{/* The pod template of both kinds. Call it with a dict: root, args, restartPolicy. */}}
{{- define "evenkeel.podTemplate" -}}
{{- $values := .root.Values -}}
metadata:
  {{- include "evenkeel.podMetadata" .root | nindent 2 }}
spec:
  serviceAccountName: {{ include "evenkeel.serviceAccountName" .root }}
  automountServiceAccountToken: {{ $values.automountServiceAccountToken }}
  restartPolicy: {{ .restartPolicy }}
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  {{- with include "evenkeel.imagePullSecrets" .root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- include "evenkeel.podSettings" .root | nindent 2 }}
  {{- with include "evenkeel.spread" .root }}
  topologySpreadConstraints:
  {{- . | nindent 2 }}
  {{- end }}
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

{{/* The fields that say where and how every pod of the release runs. */}}
{{- define "evenkeel.podSettings" -}}
{{- $pod := dict "securityContext" .Values.podSecurityContext "enableServiceLinks" false -}}
{{- range $field := list "priorityClassName" "nodeSelector" "tolerations" "affinity" -}}
{{- with get $.Values $field }}{{ $_ := set $pod $field . }}{{ end -}}
{{- end -}}
{{- .Values.podSpec | default dict | mergeOverwrite $pod | toYaml -}}
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
