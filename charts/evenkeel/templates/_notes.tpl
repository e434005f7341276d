{{/* What runs when: the strategies with their schedules. */}}
{{- define "evenkeel.schedules" -}}
{{- $lines := list -}}
{{- range $name, $strategy := include "evenkeel.strategies" . | fromYaml -}}
{{- $events := or $strategy.on (get $strategy "true") -}}
{{- $when := $strategy.schedule | default "" -}}
{{- if $events -}}
{{- $when = ternary "after nodes join" (printf "%s, and after nodes join" $when) (empty $when) -}}
{{- end -}}
{{- $mode := $strategy.mode | default "automatic" -}}
{{- $note := ternary "" (printf " (mode %s)" $mode) (eq $mode "automatic") -}}
{{- $lines = append $lines (printf "  %s: %s%s" $name $when $note) -}}
{{- end -}}
{{- join "\n" $lines -}}
{{- end }}

{{/* The command that changes values of the release. Call it with a list: the root context, and what follows. */}}
{{- define "evenkeel.upgrade" -}}
{{- $root := index . 0 -}}
helm upgrade {{ $root.Release.Name }} CHART --namespace {{ $root.Release.Namespace }} --reset-then-reuse-values {{ index . 1 }}
{{- end }}

{{/* How to see what Evenkeel does. */}}
{{- define "evenkeel.watch" -}}
{{- $namespace := include "evenkeel.namespace" . -}}
{{- if eq .Values.kind "Deployment" -}}
kubectl rollout status --namespace {{ $namespace }} deployment/{{ include "evenkeel.fullname" . }}
evenkeel logs --lease-namespace {{ $namespace }} --follow
{{- else -}}
kubectl get cronjobs,jobs --namespace {{ $namespace }} --selector app.kubernetes.io/instance={{ .Release.Name }}
evenkeel logs --lease-namespace {{ $namespace }}
{{- end -}}
{{- end }}

{{/* How to uninstall, where the chart's own hook does not clean up. */}}
{{- define "evenkeel.uninstall" -}}
{{- $namespace := include "evenkeel.namespace" . -}}
{{- if include "evenkeel.patches" . }}
Before you uninstall, remove the hints from the nodes with your own kubeconfig, because no process removes them later:

{{ if eq .Values.kind "Deployment" }}  kubectl scale deployment/{{ include "evenkeel.fullname" . }} --namespace {{ $namespace }} --replicas=0
{{- else }}  {{ include "evenkeel.upgrade" (list . "--set cronJob.suspend=true") }}
{{- end }}
  evenkeel hints clear --lease-namespace {{ $namespace }}
  helm uninstall {{ .Release.Name }} --namespace {{ .Release.Namespace }}
{{ end }}
`helm uninstall` leaves a pause, the state and an approved plan in ConfigMaps. A leftover pause
also pauses the next installation. To delete them after you have uninstalled:

  kubectl delete configmaps --namespace {{ $namespace }} --selector app.kubernetes.io/managed-by=evenkeel
{{- end }}
