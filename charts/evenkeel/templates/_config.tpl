{{/* The strategies by name as YAML, as the program sees them: those of config.preset, into which config.strategies is merged
as a merge patch (RFC 7386), without those that enabled: false switches off. */}}
{{- define "evenkeel.strategies" -}}
{{- $presets := .Files.Get "files/presets.yaml" | fromYaml -}}
{{- $all := dict -}}
{{- $names := .Values.config.preset | default list -}}
{{- range $name := kindIs "slice" $names | ternary $names (list $names) -}}
{{- if not (hasKey $presets $name) -}}
{{- fail (printf "config.preset: %v is unknown (want one or several of %s)" $name (keys $presets | sortAlpha | join ", ")) -}}
{{- end -}}
{{- include "evenkeel.mergePatch" (list $all (get $presets $name)) -}}
{{- end -}}
{{- include "evenkeel.mergePatch" (list $all (.Values.config.strategies | default dict | deepCopy)) -}}
{{- range $name, $strategy := deepCopy $all -}}
{{- if eq (toString $strategy.enabled) "false" }}{{ $_ := unset $all $name }}{{ end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{/* Applies a merge patch: maps merge, null removes a key, and other values replace. Call it with a list: the map that it
changes, the patch. */}}
{{- define "evenkeel.mergePatch" -}}
{{- $target := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $target $key -}}
{{- else if kindIs "map" $value -}}
{{- if not (kindIs "map" (get $target $key)) }}{{ $_ := set $target $key dict }}{{ end -}}
{{- include "evenkeel.mergePatch" (list (get $target $key) $value) -}}
{{- else -}}
{{- $_ := set $target $key $value -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.configMapName" -}}
{{- .Values.existingConfigMap | default (include "evenkeel.fullname" .) -}}
{{- end }}
