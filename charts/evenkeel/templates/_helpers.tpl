{{/* The name that every object of the release starts with; 43 characters leave room for the suffix of a CronJob. */}}
{{- define "evenkeel.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 43 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 43 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 43 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.selectorLabels" -}}
app.kubernetes.io/name: evenkeel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "evenkeel.labels" -}}
{{ include "evenkeel.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "evenkeel.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "evenkeel.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* Cluster-scoped objects carry the namespace too, so that two releases of one name do not meet. */}}
{{- define "evenkeel.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "evenkeel.fullname" .) -}}
{{- end }}

{{/* What both kinds of pod have in common. Call with a dict: root, args, restartPolicy. */}}
{{- define "evenkeel.podTemplate" -}}
{{- $root := .root -}}
metadata:
  {{- with $root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  labels:
    {{- include "evenkeel.labels" $root | nindent 4 }}
    {{- with $root.Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "evenkeel.serviceAccountName" $root }}
  restartPolicy: {{ .restartPolicy }}
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    {{- toYaml $root.Values.podSecurityContext | nindent 4 }}
  containers:
  - name: evenkeel
    image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args:
    {{- toYaml .args | nindent 4 }}
    env:
    - name: POD_NAMESPACE
      valueFrom:
        fieldRef:
          fieldPath: metadata.namespace
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    {{- with $root.Values.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    securityContext:
      {{- toYaml $root.Values.securityContext | nindent 6 }}
    {{- if eq $root.Values.kind "Deployment" }}
    ports:
    - name: http
      containerPort: 8080
      protocol: TCP
    livenessProbe:
      httpGet:
        path: /livez
        port: http
      periodSeconds: 10
      failureThreshold: 6
    readinessProbe:
      httpGet:
        path: /readyz
        port: http
      periodSeconds: 5
    {{- end }}
    resources:
      {{- toYaml $root.Values.resources | nindent 6 }}
    volumeMounts:
    - name: config
      mountPath: /etc/evenkeel
      readOnly: true
    {{- with $root.Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
  - name: config
    configMap:
      name: {{ include "evenkeel.fullname" $root }}
  {{- with $root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "evenkeel.config" -}}
{{- toYaml .Values.config -}}
{{- end }}

{{/* True only when pods may be evicted: an unset dryRun is a dry run. */}}
{{- define "evenkeel.evicts" -}}
{{- if eq (toString .Values.config.dryRun) "false" -}}true{{- end -}}
{{- end }}

{{/* True only when waves are steered: by a live release whose steer is neither unset nor none. */}}
{{- define "evenkeel.steers" -}}
{{- $steer := dig "evictor" "steer" "none" .Values.config -}}
{{- if and (include "evenkeel.evicts" .) (has (toString $steer) (list "label" "taint")) -}}true{{- end -}}
{{- end }}

{{/* True where config.hints.enabled is. */}}
{{- define "evenkeel.hints" -}}
{{- if eq (toString (dig "hints" "enabled" false .Values.config)) "true" -}}true{{- end -}}
{{- end }}

{{/* True where usage is read from metrics-server. */}}
{{- define "evenkeel.metrics" -}}
{{- if eq (toString (dig "load" "source" "requests" .Values.config)) "metricsServer" -}}true{{- end -}}
{{- end }}

{{/* True only when nodes may be written. */}}
{{- define "evenkeel.patches" -}}
{{- if or (include "evenkeel.steers" .) (and (include "evenkeel.evicts" .) (include "evenkeel.hints" .)) -}}true{{- end -}}
{{- end }}

{{/* The ConfigMaps in which it is remembered what was evicted; the program knows
them by these names. */}}
{{- define "evenkeel.memory" -}}
{{- range $i := until 16 }}evenkeel-memory-{{ printf "%02d" $i }}, {{ end }}evenkeel-memory-cluster
{{- end }}
