{{/* Rejects the values of files/refused-values.yaml. An empty one is not of the user: it comes from the defaults of an
earlier chart. */}}
{{- define "evenkeel.checkRefused" -}}
{{- $found := list -}}
{{- range $path, $want := .Files.Get "files/refused-values.yaml" | fromYaml -}}
{{- $parent := $.Values -}}
{{- range splitList "." $path | initial -}}
{{- $parent = kindIs "map" (get $parent .) | ternary (get $parent .) dict -}}
{{- end -}}
{{- $key := splitList "." $path | last -}}
{{- if hasKey $parent $key -}}
{{- $value := get $parent $key -}}
{{- if and (empty $value) (has (kindOf $value) (list "string" "map" "slice" "invalid")) -}}
{{- fail (printf "%s is a value of an earlier chart, which --reuse-values took over (want --reset-then-reuse-values, which keeps only the values that you set)" $path) -}}
{{- end -}}
{{- $found = append $found (printf "%s is set, which the chart does not take (want %s)" $path $want) -}}
{{- end -}}
{{- end -}}
{{- with $found }}{{ fail (join "\n" .) }}{{ end -}}
{{- end }}
