{{/* The strategies by name as YAML, as the program sees them: those of config.preset, into which config.strategies is merged
as a merge patch (RFC 7386), without those that enabled: false switches off. */}}
{{- define "evenkeel.strategies" -}}
{{- $all := include "evenkeel.presetStrategies" . | fromYaml -}}
{{- include "evenkeel.mergePatch" (list $all (.Values.config.strategies | default dict | deepCopy)) -}}
{{- range $name, $strategy := deepCopy $all -}}
{{- if eq (toString $strategy.enabled) "false" -}}
{{- if not (or $strategy.type (include "evenkeel.presetHas" (list $ $name))) }}{{ fail (printf "config.strategies.%s is unknown: it has no type, and no preset has a strategy of this name" $name) }}{{ end -}}
{{- $_ := unset $all $name -}}
{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{/* The strategies of config.preset by name as YAML. */}}
{{- define "evenkeel.presetStrategies" -}}
{{- $presets := .Files.Get "files/presets.yaml" | fromYaml -}}
{{- $all := dict -}}
{{- $names := .Values.config.preset | default list -}}
{{- range $name := kindIs "slice" $names | ternary $names (list $names) -}}
{{- if not (hasKey $presets $name) -}}
{{- fail (printf "config.preset: %v is unknown (want one or several of %s)" $name (keys $presets | sortAlpha | join ", ")) -}}
{{- end -}}
{{- include "evenkeel.mergePatch" (list $all (get $presets $name)) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{/* Whether a preset has a strategy of this name: not empty if so. Call it with a list: the root, the name. */}}
{{- define "evenkeel.presetHas" -}}
{{- $name := index . 1 -}}
{{- range (index . 0).Files.Get "files/presets.yaml" | fromYaml }}{{ if hasKey . $name }}true{{ end }}{{ end -}}
{{- end }}

{{/* The text of config.yaml. With null, Helm's values remove a strategy or its keys of other values; what no preset has is
left out. */}}
{{- define "evenkeel.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $selected := include "evenkeel.presetStrategies" . | fromYaml -}}
{{- range $name, $strategy := .Values.config.strategies -}}
{{- if and (kindIs "invalid" $strategy) (not (include "evenkeel.presetHas" (list $ $name))) }}{{ $_ := unset $config.strategies $name }}{{ end -}}
{{- if and (kindIs "map" $strategy) (not (hasKey $selected $name)) -}}
{{- $own := dict -}}
{{- include "evenkeel.mergePatch" (list $own (deepCopy $strategy)) -}}
{{- $_ := set $config.strategies $name $own -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
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
