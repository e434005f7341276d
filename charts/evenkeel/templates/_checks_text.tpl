{{/* Rejects texts in config with a wrong format, by files/config-formats.json. Call it with a dict: formats, value, path,
key. The path is for people; in the key, each element of a list is [], and each strategy is *. */}}
{{- define "evenkeel.checkText" -}}
{{- $call := . -}}
{{- $value := .value -}}
{{- if kindIs "map" $value -}}
{{- range $name, $child := $value -}}
{{- $key := trimPrefix "." (printf "%s.%s" $call.key (eq $call.key "strategies" | ternary "*" $name)) -}}
{{- include "evenkeel.checkText" (dict "formats" $call.formats "value" $child "path" (printf "%s.%s" $call.path $name) "key" $key) -}}
{{- end -}}
{{- else if kindIs "slice" $value -}}
{{- range $i, $child := $value -}}
{{- include "evenkeel.checkText" (dict "formats" $call.formats "value" $child "path" (printf "%s[%d]" $call.path $i) "key" (printf "%s[]" $call.key)) -}}
{{- end -}}
{{- else if and (hasKey .formats.keys .key) (not (kindIs "invalid" $value)) -}}
{{- $name := get .formats.keys .key -}}
{{- $format := get .formats.formats $name -}}
{{- $counted := and (eq $name "count") (not (kindIs "string" $value)) -}}
{{- if not (or $counted (regexMatch $format.pattern (include "evenkeel.text" $value))) -}}
{{- fail (printf "%s is %s (want %s)" .path (toJson $value) $format.want) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A text as it is, and a number, a boolean or null as JSON, because a large float64 prints as 1e+06. */}}
{{- define "evenkeel.text" -}}
{{- kindIs "string" . | ternary . (toJson .) -}}
{{- end }}
