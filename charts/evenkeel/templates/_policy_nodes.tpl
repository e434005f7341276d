{{/* The policy for patches of nodes: only what hints need. Call it with a dict: root and name, and account and hook as for
evenkeel.policy. */}}
{{- define "evenkeel.nodesPolicy" -}}
{{- $root := .root -}}
{{- $steer := "evenkeel.io/steer" }}
{{- $pressure := "evenkeel.io/pressure" }}
{{- $labels := list (print $steer "=avoid") }}
{{- $taints := list $steer }}
{{- $formerLabels := list }}
{{- $formerTaints := list }}
{{- if include "evenkeel.external" $root }}
{{- $labels = concat $labels (($root.Values.rbac.nodeKeys | default dict).labels | default list) | uniq }}
{{- $taints = concat $taints (($root.Values.rbac.nodeKeys | default dict).taints | default list) | uniq }}
{{- else }}
{{- with dig "hints" "label" (print $pressure "=true") $root.Values.config }}
{{- $labels = append $labels . }}
{{- end }}
{{- $taints = append $taints (dig "hints" "taint" "" $root.Values.config | default $pressure) | uniq }}
{{- range dig "hints" "former" list $root.Values.config | default list }}
{{- if contains "=" . }}{{ $formerLabels = append $formerLabels . }}{{ else }}{{ $formerTaints = append $formerTaints . }}{{ end }}
{{- end }}
{{- end }}
{{- $keys := list }}
{{- range $labels }}
{{- $keys = append $keys (regexSplit "=" . 2 | first) }}
{{- end -}}
{{ include "evenkeel.policy" (dict "root" $root "name" .name "account" .account "hook" .hook
  "groups" (list "") "resources" (list "nodes") "operations" (list "UPDATE")) }}
  variables:
  - name: labelsBefore
    expression: "has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}"
  - name: labels
    expression: "has(object.metadata.labels) ? object.metadata.labels : {}"
  # key=value
  - name: ownLabels
    expression: {{ toJson $labels | quote }}
  - name: ownLabelKeys
    expression: {{ $keys | uniq | toJson | quote }}
  - name: annotationsBefore
    expression: "has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"
  - name: annotations
    expression: "has(object.metadata.annotations) ? object.metadata.annotations : {}"
  - name: ownAnnotations
    expression: {{ list $pressure (print $steer "-run") (print $steer "-expires") (print $steer "-kind") | toJson | quote }}
  - name: taintsBefore
    expression: "has(oldObject.spec.taints) ? oldObject.spec.taints : []"
  - name: taints
    expression: "has(object.spec.taints) ? object.spec.taints : []"
  - name: ownTaints
    expression: {{ toJson $taints | quote }}
  validations:
  - message: Evenkeel may only put and remove the labels of its hints
    reason: Forbidden
    expression: >-
      variables.labels.all(k, k in variables.labelsBefore && variables.labels[k] == variables.labelsBefore[k] ||
      (k + "=" + variables.labels[k]) in variables.ownLabels) &&
      variables.labelsBefore.all(k, k in variables.labels || k in variables.ownLabelKeys
      {{- if $formerLabels }} ||
      (k + "=" + variables.labelsBefore[k]) in {{ toJson $formerLabels }}{{ end }})
  # Evenkeel reads no annotation of a hint with more than 16 KiB.
  - message: Evenkeel may only change the annotations of its hints, to at most 16 KiB each
    reason: Forbidden
    expression: >-
      variables.annotations.all(k, k in variables.annotationsBefore &&
      variables.annotations[k] == variables.annotationsBefore[k] ||
      k in variables.ownAnnotations && size(variables.annotations[k]) <= 16384) &&
      variables.annotationsBefore.all(k, k in variables.annotations || k in variables.ownAnnotations)
  - message: Evenkeel may only put and remove PreferNoSchedule taints with the keys of its hints
    reason: Forbidden
    expression: >-
      variables.taints.all(t, t in variables.taintsBefore ||
      t.key in variables.ownTaints && t.effect == "PreferNoSchedule" && (!has(t.value) || t.value == "")) &&
      variables.taintsBefore.all(t, t in variables.taints ||
      {{ if $formerTaints }}t.key in {{ toJson $formerTaints }} && t.effect == "PreferNoSchedule" || {{ end -}}
      t.key in variables.ownTaints && t.effect == "PreferNoSchedule")
  # The API server itself changes the three listed fields of the metadata.
  - message: Evenkeel may change only labels, annotations and taints of a node
    reason: Forbidden
    expression: >-
      [oldObject.spec, object.spec].all(s, s.all(k, k == "taints" ||
      k in oldObject.spec && k in object.spec && oldObject.spec[k] == object.spec[k])) &&
      [oldObject.metadata, object.metadata].all(m, m.all(k,
      k in ["labels", "annotations", "resourceVersion", "managedFields", "generation"] ||
      k in oldObject.metadata && k in object.metadata &&
      oldObject.metadata[k] == object.metadata[k]))
{{- end }}
