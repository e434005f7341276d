{{/* The first part of the name of every object; 43 characters leave room for the suffix of a CronJob. */}}
{{- define "evenkeel.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 43 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 43 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 43 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* The namespace of every object that has one, and of the Lease and the state. */}}
{{- define "evenkeel.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end }}

{{/* Names of cluster-scoped objects contain the namespace, because two namespaces can have releases with one name. */}}
{{- define "evenkeel.clusterName" -}}
{{- printf "%s-%s" (include "evenkeel.namespace" .) (include "evenkeel.fullname" .) -}}
{{- end }}

{{- define "evenkeel.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "evenkeel.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}
