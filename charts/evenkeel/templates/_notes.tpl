{{/* When a strategy runs. */}}
{{- define "evenkeel.when" -}}
{{- $when := list -}}
{{- with .schedule }}{{ $when = append $when . }}{{ end -}}
{{- with .onNodeReady }}{{ $when = append $when (printf "%s after a node became Ready" .) }}{{ end -}}
{{- join ", and " $when }}{{ if eq (toString .mode) "approve" }} (its moves wait for `evenkeel approve`){{ else if eq (toString .mode) "dryRun" }} (dry run){{ end -}}
{{- end }}
