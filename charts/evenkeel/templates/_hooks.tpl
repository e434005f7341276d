{{/* The annotations of a hook of Helm. Call it with a dict: on, the events; weight; stays, true if the object stays until
the next run; logs, true if Helm prints the log of the pod if the hook fails. */}}
{{- define "evenkeel.hook" -}}
helm.sh/hook: {{ .on }}
helm.sh/hook-weight: {{ .weight | default 0 | quote }}
helm.sh/hook-delete-policy: before-hook-creation{{ if not .stays }},hook-succeeded,hook-failed{{ end }}
{{- if .logs }}
helm.sh/hook-output-log-policy: hook-failed
{{- end }}
{{- end }}

{{/* The metadata of a hook. Call it with a dict: root; name; cluster, true if the object has no namespace; and hook, a dict as
for evenkeel.hook. */}}
{{- define "evenkeel.hookMetadata" -}}
{{- $hook := include "evenkeel.hook" .hook | fromYaml -}}
{{- include "evenkeel.metadata" (dict "root" .root "name" .name "cluster" .cluster "annotations" $hook "own" dict) -}}
{{- end }}

{{/* The pod of a hook, which runs one command and ends. Call it with a dict: root, account, args, config, the
name of the ConfigMap to mount or "", and mounts, true if the pod needs the other files and volumes of the release. */}}
{{- define "evenkeel.hookPod" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: {{ or (not .mounts) $values.automountServiceAccountToken }}
restartPolicy: Never
{{- with include "evenkeel.imagePullSecrets" .root }}
{{ . }}
{{- end }}
{{ include "evenkeel.hookSettings" .root }}
containers:
- name: evenkeel
  image: {{ include "evenkeel.image" .root | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  args:
  {{- toYaml .args | nindent 2 }}
  env:
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  {{- with $values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $values.extraEnvFrom }}
  envFrom:
  {{- toYaml . | nindent 2 }}
  {{- end }}
  securityContext:
    {{- toYaml $values.securityContext | nindent 4 }}
  resources:
    {{- toYaml $values.resources | nindent 4 }}
  {{- if or .config .mounts }}
  volumeMounts:
  {{- if .config }}
  - name: config
    mountPath: /etc/evenkeel
    readOnly: true
  {{- end }}
  {{- with and .mounts $values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
{{- with .config }}
- name: config
  configMap:
    name: {{ . }}
{{- end }}
{{- with and .mounts $values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* The fields of the pod of a hook that say where and how it runs. */}}
{{- define "evenkeel.hookSettings" -}}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- range $field := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with get $.Values $field }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
{{- range $field := list "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" }}
{{- with get $.Values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
