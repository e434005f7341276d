{{/* What the release may do. It follows from the configuration, or from the section rbac of the values if an existing
ConfigMap hides the configuration. Each helper returns "true" or nothing unless its comment says otherwise. */}}

{{/* True if the configuration is in an existing ConfigMap, which the chart cannot read. */}}
{{- define "evenkeel.external" -}}
{{- if .Values.existingConfigMap -}}true{{- end -}}
{{- end }}

{{/* True if it is not a dry run. Without dryRun it is one. */}}
{{- define "evenkeel.live" -}}
{{- if include "evenkeel.external" . -}}
{{- if or .Values.rbac.evict .Values.rbac.delete .Values.rbac.nodeWrites -}}true{{- end -}}
{{- else if eq (toString .Values.config.dryRun) "false" -}}true{{- end -}}
{{- end }}

{{/* The strategies whose moves can be executed, as YAML: not a dry run, and mode automatic or approve. */}}
{{- define "evenkeel.active" -}}
{{- $active := list -}}
{{- if and (include "evenkeel.live" .) (not (include "evenkeel.external" .)) -}}
{{- range include "evenkeel.strategies" . | fromYaml -}}
{{- if ne (toString .mode) "dryRun" }}{{ $active = append $active . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $active -}}
{{- end }}

{{/* True if pods may be evicted. */}}
{{- define "evenkeel.evicts" -}}
{{- if include "evenkeel.external" . -}}
{{- if .Values.rbac.evict -}}true{{- end -}}
{{- else if include "evenkeel.active" . | fromYamlArray -}}true{{- end -}}
{{- end }}

{{/* True if failed pods may be deleted: a FailedPods strategy that can be executed has remove: deletion. */}}
{{- define "evenkeel.deletes" -}}
{{- $found := and (include "evenkeel.external" .) .Values.rbac.delete -}}
{{- range include "evenkeel.active" . | fromYamlArray -}}
{{- if and (eq (toString .type) "FailedPods") (eq (toString (.args | default dict).remove) "deletion") -}}{{- $found = true -}}{{- end -}}
{{- end -}}
{{- if $found -}}true{{- end -}}
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

{{/* True if nodes may be patched. */}}
{{- define "evenkeel.patches" -}}
{{- if include "evenkeel.external" . -}}
{{- if .Values.rbac.nodeWrites -}}true{{- end -}}
{{- else if or (include "evenkeel.steers" .) (and (include "evenkeel.live" .) (include "evenkeel.hints" .)) -}}true{{- end -}}
{{- end }}

{{/* True if nodes may have hints of the release: it may patch nodes, or is a dry run now that could patch nodes otherwise. */}}
{{- define "evenkeel.mayLeaveHints" -}}
{{- $steer := toString (dig "evictor" "steer" "none" .Values.config) -}}
{{- if include "evenkeel.external" . -}}
{{- include "evenkeel.patches" . -}}
{{- else if or (include "evenkeel.hints" .) (has $steer (list "label" "taint")) -}}true{{- end -}}
{{- end }}

{{/* True if the usage may be read from metrics-server. */}}
{{- define "evenkeel.metrics" -}}
{{- if or (include "evenkeel.external" .) (eq (toString (dig "load" "source" "requests" .Values.config)) "metricsServer") -}}true{{- end -}}
{{- end }}

{{/* The namespaces in which the configuration plans evictions, as YAML; none means all. If config.namespaces.include is
empty, they are those of the strategies that can be executed, if each of them names its own. */}}
{{- define "evenkeel.plannedNamespaces" -}}
{{- $namespaces := dig "namespaces" "include" list .Values.config | default list -}}
{{- if not $namespaces -}}
{{- $all := false -}}
{{- range include "evenkeel.active" . | fromYamlArray -}}
{{- $own := (.namespaces | default dict).include -}}
{{- if $own }}{{ $namespaces = concat $namespaces $own }}{{ else }}{{ $all = true }}{{ end -}}
{{- end -}}
{{- if $all }}{{ $namespaces = list }}{{ end -}}
{{- end -}}
{{- $namespaces | uniq | toYaml -}}
{{- end }}

{{/* The namespaces in which pods may be evicted and deleted, as YAML; none means all. */}}
{{- define "evenkeel.evictNamespaces" -}}
{{- $namespaces := .Values.rbac.evictNamespaces | default list -}}
{{- if not (or $namespaces (include "evenkeel.external" .)) -}}
{{- $namespaces = include "evenkeel.plannedNamespaces" . | fromYamlArray -}}
{{- end -}}
{{- if has "*" $namespaces }}{{ $namespaces = list }}{{ end -}}
{{- $namespaces | uniq | toYaml -}}
{{- end }}

{{/* The rules for evicting and deleting pods. */}}
{{- define "evenkeel.evictRules" -}}
{{- if include "evenkeel.evicts" . }}
# Only if config.dryRun is false and a strategy has mode automatic or approve.
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
{{- end }}
{{- if include "evenkeel.deletes" . }}
# Only if config.dryRun is false and a FailedPods strategy has remove: deletion. RBAC cannot limit this permission to
# failed pods; admissionPolicy does.
- apiGroups: [""]
  resources: [pods]
  verbs: [delete]
{{- end }}
{{- end }}

{{/* The names of the ConfigMaps with the state. The program has the same list. */}}
{{- define "evenkeel.stateNames" -}}
{{- range $i := until 16 }}evenkeel-state-{{ printf "%02d" $i }}, {{ end }}evenkeel-state-cluster
{{- end }}

{{/* The names of the Leases, with commas. Every release needs both: after a change between dry run and evictions, its pods
hold or wait for the other Lease until they have read the new configuration. */}}
{{- define "evenkeel.leases" -}}
evenkeel, evenkeel-dry-run
{{- end }}

{{/* Rejects values of rbac that contradict the configuration, or that are missing because the chart cannot see it. */}}
{{- define "evenkeel.checkPermissions" -}}
{{- $rbac := .Values.rbac -}}
{{- range $rbac.evictNamespaces -}}
{{- include "evenkeel.match" (list "a namespace in rbac.evictNamespaces" . "^([a-z0-9]([-a-z0-9]*[a-z0-9])?|\\*)$" "a name, or * for the whole cluster") -}}
{{- end -}}
{{- range ($rbac.nodeKeys | default dict).labels -}}
{{- include "evenkeel.match" (list "a label in rbac.nodeKeys.labels" . "^[^=]+=[^=]*$" "key=value, such as evenkeel.io/pressure=true") -}}
{{- end -}}
{{- if and $rbac.nodeKeys (include "evenkeel.external" .) (not $rbac.nodeWrites) -}}
{{- fail "rbac.nodeKeys is set, but rbac.nodeWrites is false, so Evenkeel may not patch nodes (want rbac.nodeWrites: true, or no rbac.nodeKeys)" -}}
{{- end -}}
{{- range ($rbac.nodeKeys | default dict).labels -}}
{{- include "evenkeel.checkNodeKey" (list "rbac.nodeKeys.labels" (regexSplit "=" . 2 | first)) -}}
{{- end -}}
{{- range ($rbac.nodeKeys | default dict).taints -}}
{{- include "evenkeel.checkNodeKey" (list "rbac.nodeKeys.taints" .) -}}
{{- end -}}
{{- $keys := list "evict" "delete" "nodeWrites" "nodeKeys" -}}
{{- if include "evenkeel.external" . -}}
{{- $missing := list -}}
{{- range list "evict" "nodeWrites" -}}
{{- if kindIs "invalid" (index $rbac .) }}{{ $missing = append $missing (printf "rbac.%s: true or false" .) }}{{ end -}}
{{- end -}}
{{- if and $rbac.nodeWrites (kindIs "invalid" $rbac.nodeKeys) }}{{ $missing = append $missing "rbac.nodeKeys: the labels and taints of hints" }}{{ end -}}
{{- with $missing -}}
{{- fail (printf "existingConfigMap is %s, so the chart cannot see what Evenkeel has to do (want %s)" $.Values.existingConfigMap (join ", " .)) -}}
{{- end -}}
{{- with .Values.extraFiles -}}
{{- fail (printf "extraFiles has %s, but existingConfigMap is set, so the pods see only the files of ConfigMap %s (want the file in that ConfigMap)" (keys . | sortAlpha | join ", ") $.Values.existingConfigMap) -}}
{{- end -}}
{{- else -}}
{{- range $keys -}}
{{- if not (kindIs "invalid" (index $rbac .)) -}}
{{- fail (printf "rbac.%s is set, but this permission follows from config (want it unset, or existingConfigMap)" .) -}}
{{- end -}}
{{- end -}}
{{- $include := include "evenkeel.plannedNamespaces" . | fromYamlArray -}}
{{- $granted := $rbac.evictNamespaces | default list -}}
{{- if and (include "evenkeel.evictRules" .) (not (has "*" $granted)) -}}
{{- range $include -}}
{{- if hasSuffix "*" (toString .) -}}
{{- fail (printf "config.namespaces.include, or that of a strategy, has %s, but a RoleBinding is for one namespace (want rbac.evictNamespaces: [\"*\"], which the admission policy limits to these namespaces, or names)" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $granted (not (has "*" $granted)) -}}
{{- if not $include -}}
{{- fail (printf "rbac.evictNamespaces is [%s], but config.namespaces.include is empty, so Evenkeel would plan evictions in all namespaces (want the same namespaces in both)" (join ", " $granted)) -}}
{{- end -}}
{{- range $include -}}
{{- if not (has . $granted) -}}
{{- fail (printf "config.namespaces.include, or that of a strategy, has %s, in which rbac.evictNamespaces permits no evictions (want it in both)" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Rejects a key of a label or taint that belongs to Kubernetes, as the program does. Call it with a list: value, key. */}}
{{- define "evenkeel.checkNodeKey" -}}
{{- $prefix := printf ".%s" (index . 1 | splitList "/" | first) -}}
{{- if and (contains "/" (index . 1)) (or (hasSuffix ".kubernetes.io" $prefix) (hasSuffix ".k8s.io" $prefix)) -}}
{{- fail (printf "%s has %s, which belongs to Kubernetes (want a key of your own, or evenkeel.io/pressure)" (index . 0) (index . 1)) -}}
{{- end -}}
{{- end }}
