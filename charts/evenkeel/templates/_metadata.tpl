{{/* The labels that identify the release. The selector of the Deployment cannot change, so these cannot either. */}}
{{- define "evenkeel.selectorLabels" -}}
app.kubernetes.io/name: evenkeel
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* The labels of every object that come from the chart. */}}
{{- define "evenkeel.labels" -}}
{{ include "evenkeel.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The metadata of an object. Call it with a dict: root; name; cluster, true if the object has no namespace; labels and
annotations, those of the object itself; namespace, if it is not that of the release. The object's own win over
commonLabels and commonAnnotations, except for those that identify the release. */}}
{{- define "evenkeel.metadata" -}}
name: {{ .name | quote }}
{{- if not .cluster }}
namespace: {{ .namespace | default (include "evenkeel.namespace" .root) | quote }}
{{- end }}
labels:
  {{- $fixed := include "evenkeel.labels" .root | fromYaml }}
  {{- mergeOverwrite dict (.root.Values.commonLabels | default dict) (.labels | default dict) $fixed | toYaml | nindent 2 }}
{{- with mergeOverwrite dict (.root.Values.commonAnnotations | default dict) (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The annotations that keep autoscalers from removing a node while a pod of Evenkeel runs on it. */}}
{{- define "evenkeel.safeToEvict" -}}
{{- $safe := .Values.safeToEvict -}}
{{- if or (eq (toString $safe) "false") (and (kindIs "invalid" $safe) (eq .Values.kind "CronJob")) -}}
cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
karpenter.sh/do-not-disrupt: "true"
{{- end -}}
{{- end }}

{{/* The labels and annotations of the pods of the controller or of its jobs. They have no label with the version of the
chart, so a new chart alone replaces no pods. */}}
{{- define "evenkeel.podMetadata" -}}
labels:
  {{- $fixed := include "evenkeel.controllerLabels" . | fromYaml }}
  {{- $version := dict "app.kubernetes.io/version" .Chart.AppVersion }}
  {{- mergeOverwrite dict $version (.Values.commonLabels | default dict) (.Values.podLabels | default dict) $fixed | toYaml | nindent 2 }}
{{- with mergeOverwrite dict (include "evenkeel.safeToEvict" . | fromYaml) (.Values.commonAnnotations | default dict) (.Values.podAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The labels and annotations of the jobs that a CronJob makes. */}}
{{- define "evenkeel.jobMetadata" -}}
labels:
  {{- $fixed := include "evenkeel.controllerLabels" . | fromYaml }}
  {{- mergeOverwrite dict (.Values.commonLabels | default dict) $fixed | toYaml | nindent 2 }}
{{- with .Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The labels that select the pods of the controller or of its jobs, and no pods of hooks. */}}
{{- define "evenkeel.controllerLabels" -}}
{{ include "evenkeel.selectorLabels" . }}
app.kubernetes.io/component: {{ ternary "controller" "job" (eq .Values.kind "Deployment") }}
{{- end }}
