{{/* The first part of the name of every object; 43 characters leave room for the suffix of a CronJob. */}}
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

{{/* Names of cluster-scoped objects contain the namespace, because two namespaces can have releases with one name. */}}
{{- define "evenkeel.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "evenkeel.fullname" .) -}}
{{- end }}

{{/* The pod template of both kinds. Call it with a dict: root, args, restartPolicy. */}}
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

{{/* True if it is not a dry run. Without dryRun it is one. */}}
{{- define "evenkeel.live" -}}
{{- if eq (toString .Values.config.dryRun) "false" -}}true{{- end -}}
{{- end }}

{{/* True if pods may be evicted: not a dry run, and at least one strategy. */}}
{{- define "evenkeel.evicts" -}}
{{- if and (include "evenkeel.live" .) .Values.config.strategies -}}true{{- end -}}
{{- end }}

{{/* True if failed pods may be deleted: not a dry run, and a FailedPods strategy with remove: deletion. */}}
{{- define "evenkeel.deletes" -}}
{{- if include "evenkeel.live" . -}}
{{- $found := false -}}
{{- range .Values.config.strategies -}}
{{- if and (eq (toString .type) "FailedPods") (eq (toString (.args | default dict).remove) "deletion") -}}{{- $found = true -}}{{- end -}}
{{- end -}}
{{- if $found -}}true{{- end -}}
{{- end -}}
{{- end }}

{{/* True if pods may be evicted and evictor.steer is label or taint. */}}
{{- define "evenkeel.steers" -}}
{{- $steer := dig "evictor" "steer" "none" .Values.config -}}
{{- if and (include "evenkeel.evicts" .) (has (toString $steer) (list "label" "taint")) -}}true{{- end -}}
{{- end }}

{{/* True if config.hints.enabled is true. */}}
{{- define "evenkeel.hints" -}}
{{- if eq (toString (dig "hints" "enabled" false .Values.config)) "true" -}}true{{- end -}}
{{- end }}

{{/* True if metrics-server is the source of usage. */}}
{{- define "evenkeel.metrics" -}}
{{- if eq (toString (dig "load" "source" "requests" .Values.config)) "metricsServer" -}}true{{- end -}}
{{- end }}

{{/* True if Evenkeel needs the permission to patch nodes. */}}
{{- define "evenkeel.patches" -}}
{{- if or (include "evenkeel.steers" .) (and (include "evenkeel.live" .) (include "evenkeel.hints" .)) -}}true{{- end -}}
{{- end }}

{{/* The names of the ConfigMaps with the state. The program has the same list. */}}
{{- define "evenkeel.memory" -}}
{{- range $i := until 16 }}evenkeel-state-{{ printf "%02d" $i }}, {{ end }}evenkeel-state-cluster
{{- end }}

{{/* The name of the Lease. */}}
{{- define "evenkeel.lease" -}}
{{- if include "evenkeel.live" . }}evenkeel{{ else }}evenkeel-dry-run{{ end -}}
{{- end }}

{{/* A ValidatingAdmissionPolicy for the ServiceAccount, up to its validations, and its binding. Call it with a dict:
root, name, groups, resources, operations, and own if it concerns only the namespace of the release. */}}
{{- define "evenkeel.policy" -}}
{{- $name := printf "%s-%s" (include "evenkeel.clusterName" .root) .name -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "evenkeel.labels" .root | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "evenkeel.labels" .root | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    {{- if .own }}
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ .root.Release.Namespace }}
    {{- end }}
    # Exact, because otherwise the policy for events would match all events of the API group "" too.
    matchPolicy: Exact
    resourceRules:
    - apiGroups: {{ toJson .groups }}
      apiVersions: ["*"]
      operations: {{ toJson .operations }}
      resources: {{ toJson .resources }}
  matchConditions:
  - name: service-account
    expression: >-
      has(request.userInfo.username) &&
      request.userInfo.username == "system:serviceaccount:{{ .root.Release.Namespace }}:{{ include "evenkeel.serviceAccountName" .root }}"
{{- end }}

{{/* Rejects values that the program would reject, or that would have no effect. */}}
{{- define "evenkeel.check" -}}
{{- $config := .Values.config -}}
{{- $source := toString (dig "load" "source" "requests" $config) -}}
{{- if and (eq $source "prometheus") (not (dig "load" "prometheus" "url" "" $config)) -}}
{{- fail "config.load.source is prometheus, but config.load.prometheus.url is empty (want a URL, such as http://prometheus.monitoring:9090)" -}}
{{- end -}}
{{- if and (eq $source "loadWatcher") (not (dig "load" "loadWatcher" "url" "" $config)) -}}
{{- fail "config.load.source is loadWatcher, but config.load.loadWatcher.url is empty (want a URL, such as http://load-watcher.monitoring:2020)" -}}
{{- end -}}
{{- include "evenkeel.file" (dict "root" . "key" "config.hints.rulesFile" "file" (dig "hints" "rulesFile" "" $config)) -}}
{{- include "evenkeel.file" (dict "root" . "key" "config.placement.schedulerConfig" "file" (dig "placement" "schedulerConfig" "" $config)) -}}
{{- $root := . -}}
{{- range $i, $p := dig "placement" "profiles" list $config -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.placement.profiles[%d].policy" $i) "file" ($p.policy | default "")) -}}
{{- end -}}
{{- range $i, $r := $config.notify -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.notify[%d].urlFile" $i) "file" ($r.urlFile | default "")) -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.notify[%d].tokenFile" $i) "file" ($r.tokenFile | default "")) -}}
{{- end -}}
{{- if and (eq .Values.kind "CronJob") (has $source (list "metricsServer" "loadWatcher")) -}}
{{- range $s := $config.strategies -}}
{{- if and (eq (toString ($s.args | default dict).basis) "load") (gt (int ($s.args | default dict).for) 1) -}}
{{- include "evenkeel.oneSample" (dict "what" (printf "config.strategies: %s" $s.name) "source" $source) -}}
{{- end -}}
{{- end -}}
{{- range $r := eq (include "evenkeel.hints" .) "true" | ternary (dig "hints" "rules" list $config) list -}}
{{- if gt (int ($r.for | default (dig "hints" "for" 1 $config))) 1 -}}
{{- include "evenkeel.oneSample" (dict "what" (printf "config.hints.rules: %s" $r.name) "source" $source) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.oneSample" -}}
{{- fail (printf "%s needs several consecutive samples (for), but a job takes only one, and %s keeps none between jobs (want kind Deployment, config.load.source: prometheus, or for: 1)" .what .source) -}}
{{- end }}

{{/* Rejects a file that the configuration names if it is neither in extraFiles nor below one
of extraVolumeMounts. A relative name starts in the directory of config.yaml. */}}
{{- define "evenkeel.file" -}}
{{- if .file -}}
{{- $path := hasPrefix "/" .file | ternary .file (printf "/etc/evenkeel/%s" .file) | clean -}}
{{- $found := hasKey (.root.Values.extraFiles | default dict) (trimPrefix "/etc/evenkeel/" $path) -}}
{{- range .root.Values.extraVolumeMounts -}}
{{- if or (eq $path .mountPath) (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $path) -}}
{{- $found = true -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- fail (printf "%s is %s, which the pods do not have (want it in extraFiles, such as --set-file 'extraFiles.%s=%s', or mounted with extraVolumeMounts)" .key .file (base $path | replace "." "\\.") (base $path)) -}}
{{- end -}}
{{- end -}}
{{- end }}
