{{/* The text of config.yaml. YAML 1.1 reads the key on without quotes as true, so this writes on for it. */}}
{{- define "evenkeel.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- range $config.strategies -}}
{{- if hasKey . "true" -}}
{{- $_ := set . "on" (get . "true") -}}
{{- $_ := unset . "true" -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{- define "evenkeel.configMapName" -}}
{{- .Values.existingConfigMap | default (include "evenkeel.fullname" .) -}}
{{- end }}
