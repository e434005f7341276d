{{/* The annotations of a hook of Helm. Call it with a dict: on, the events; weight; stays, true if the object stays until
the next run if the hook fails; logs, true if Helm prints the log of the pod if the hook fails. */}}
{{- define "evenkeel.hook" -}}
helm.sh/hook: {{ .on }}
helm.sh/hook-weight: {{ .weight | default 0 | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded{{ if not .stays }},hook-failed{{ end }}
{{- if .logs }}
helm.sh/hook-output-log-policy: hook-failed
{{- end }}
{{- end }}

{{/* The metadata of an object of the job after the deletion. Call it with a dict: root; name; cluster, true if the object has
no namespace; and hook, a dict as for evenkeel.hook. */}}
{{- define "evenkeel.hookMetadata" -}}
{{- include "evenkeel.metadata" (dict "root" .root "name" .name "cluster" .cluster
  "annotations" (include "evenkeel.hook" .hook | fromYaml)) -}}
{{- end }}

{{/* The labels and annotations of the pod that the job of a hook makes. Call it with a dict: root, component. */}}
{{- define "evenkeel.hookPodMetadata" -}}
{{- $values := .root.Values -}}
labels:
  {{- $fixed := include "evenkeel.selectorLabels" .root | fromYaml }}
  {{- $_ := set $fixed "app.kubernetes.io/component" .component }}
  {{- mergeOverwrite dict ($values.commonLabels | default dict) ($values.podLabels | default dict) $fixed | toYaml | nindent 2 }}
{{- with mergeOverwrite dict ($values.commonAnnotations | default dict) ($values.podAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The egress that every pod of the release needs. */}}
{{- define "evenkeel.basicEgress" -}}
{{- $egress := .Values.networkPolicy.egress -}}
# DNS. A policy counts the port of the pod, which may differ from the port of the Service.
- ports:
  {{- range $egress.dnsPorts | default (list 53 5353) }}
  - {port: {{ . }}, protocol: UDP}
  - {port: {{ . }}, protocol: TCP}
  {{- end }}
# The API server. Its address is not a pod's, so only ports limit this rule.
- ports:
  {{- range $egress.apiServerPorts | default (list 443 6443) }}
  - {port: {{ . }}, protocol: TCP}
  {{- end }}
{{- end }}

{{/* The environment variables of the pod of a hook, as a list. Without mounts, those from Secrets and ConfigMaps are
missing: the job after the deletion could not start, because Helm may have deleted what extraObjects made. */}}
{{- define "evenkeel.hookEnv" -}}
{{- $env := list -}}
{{- range .root.Values.extraEnv -}}
{{- $from := .valueFrom | default dict -}}
{{- if or $.mounts (not (or $from.secretKeyRef $from.configMapKeyRef)) }}{{ $env = append $env . }}{{ end -}}
{{- end -}}
{{- toYaml $env -}}
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
{{ include "evenkeel.podSettings" .root }}
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
  {{- with include "evenkeel.hookEnv" . | fromYamlArray }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with and .mounts $values.extraEnvFrom }}
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
