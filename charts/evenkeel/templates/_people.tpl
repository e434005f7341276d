{{/* Rejects people whose roles would not exist, or would have no effect. */}}
{{- define "evenkeel.checkPeople" -}}
{{- $people := .Values.people | default dict -}}
{{- range $list := list "readers" "pausers" "approvers" "runners" "aggregateToView" -}}
{{- if and (get $people $list) (not $.Values.rbac.create) -}}
{{- fail (printf "people.%s is set, but rbac.create is false, so the chart makes no roles for people (want rbac.create: true, or no people.%s)" $list $list) -}}
{{- end -}}
{{- end -}}
{{- if and $people.approvers (include "evenkeel.live" .) (not (include "evenkeel.external" .)) (eq (toString (dig "approvals" "enabled" true .Values.config)) "false") -}}
{{- fail "people.approvers is set, but config.approvals.enabled is false, so Evenkeel would not execute what they approve (want config.approvals.enabled: true, or no people.approvers)" -}}
{{- end -}}
{{- end }}

{{/* A ClusterRole for people, without its rules. Call it with a dict: root, name, labels. */}}
{{- define "evenkeel.subjectClusterRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "evenkeel.metadata" (dict "root" .root "name" .name "cluster" true "labels" .labels) | nindent 2 }}
{{- end }}

{{/* A Role for people, without its rules. Call it with a dict: root, suffix of the name. */}}
{{- define "evenkeel.subjectRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "evenkeel.metadata" (dict "root" .root "name" (printf "%s-%s" (include "evenkeel.fullname" .root) .suffix)) | nindent 2 }}
{{- end }}

{{/* Binds a role for people to subjects. Call it with a dict: root, kind of the role, name of a ClusterRole or suffix of a
Role, subjects. */}}
{{- define "evenkeel.subjectBinding" -}}
{{- $name := .name | default (printf "%s-%s" (include "evenkeel.fullname" .root) .suffix) -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  {{- include "evenkeel.metadata" (dict "root" .root "name" $name "cluster" (eq .kind "ClusterRole")) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ $name }}
subjects:
{{- range .subjects }}
- kind: {{ .kind }}
  name: {{ .name | quote }}
  {{- if eq .kind "ServiceAccount" }}
  namespace: {{ .namespace | default (include "evenkeel.namespace" $.root) }}
  {{- else }}
  apiGroup: rbac.authorization.k8s.io
  {{- end }}
{{- end }}
{{- end }}

{{/* The rule that shows the objects of evenkeel.io. */}}
{{- define "evenkeel.viewRule" }}
- apiGroups: [evenkeel.io]
  resources: [rebalanceplans, rebalancers, rebalanceruns, rebalancehistories]
  verbs: [get, list, watch]
{{- end }}

{{/* The rule that shows who leads. */}}
{{- define "evenkeel.readLeases" }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [evenkeel, evenkeel-dry-run]
  verbs: [get]
{{- end }}

{{/* The rules for the objects of the snapshot, for the controller and for people who plan with their own account. */}}
{{- define "evenkeel.readRules" }}
# The objects of the snapshot. Every strategy needs all of them, because each eviction needs the predicted place of the
# replacement: workloads, services and claims decide how the scheduler spreads and binds it, jobs and cronjobs tell who
# owns a pod, and a pod stays if a quota would refuse its replacement.
- apiGroups: [""]
  resources: [nodes, pods, namespaces, services, replicationcontrollers, persistentvolumeclaims, persistentvolumes, resourcequotas]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [replicasets, deployments, statefulsets, daemonsets]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [get, list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, csidrivers, volumeattachments, csistoragecapacities]
  verbs: [get, list, watch]
# What the API server reads before it accepts a pod: a pod stays if its replacement would be refused. Without one of
# these permissions, that check is off, and the report says so.
- apiGroups: [""]
  resources: [limitranges, serviceaccounts]
  verbs: [get, list, watch]
- apiGroups: [node.k8s.io]
  resources: [runtimeclasses]
  verbs: [get, list, watch]
# Events with the reason FailedCreate: a pod stays if its controller could not create a pod. Without
# this permission, the report says so.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
{{- end }}
