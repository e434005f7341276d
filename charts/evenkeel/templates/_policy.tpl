{{/* A ValidatingAdmissionPolicy for the ServiceAccount, up to its validations, and its binding. Call it with a dict:
root, name, groups, resources, operations, own if it concerns only the namespace of the release, and everybody if it
concerns all accounts; then the caller adds match conditions. */}}
{{- define "evenkeel.policy" -}}
{{- $name := printf "%s-%s" (include "evenkeel.clusterName" .root) .name -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  {{- include "evenkeel.metadata" (dict "root" .root "name" $name "cluster" true "own" .root.Values.admissionPolicy) | nindent 2 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  {{- include "evenkeel.metadata" (dict "root" .root "name" $name "cluster" true "own" .root.Values.admissionPolicy) | nindent 2 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    {{- if .own }}
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ include "evenkeel.namespace" .root }}
    {{- end }}
    # Exact, because otherwise the policy for events would match all events of the API group "" too.
    matchPolicy: Exact
    resourceRules:
    - apiGroups: {{ toJson .groups }}
      apiVersions: ["*"]
      operations: {{ toJson .operations }}
      resources: {{ toJson .resources }}
  matchConditions:
  {{- if not .everybody }}
  - name: service-account
    expression: >-
      has(request.userInfo.username) &&
      request.userInfo.username == "system:serviceaccount:{{ include "evenkeel.namespace" .root }}:{{ include "evenkeel.serviceAccountName" .root }}"
  {{- end }}
{{- end }}

{{/* The condition, in CEL, that the namespace of a request is one in which pods may be evicted and deleted. */}}
{{- define "evenkeel.removalNamespaces" -}}
{{- $exclude := dig "namespaces" "exclude" list .Values.config | default list -}}
{{- $include := dig "namespaces" "include" list .Values.config | default list -}}
{{- if include "evenkeel.external" . -}}
{{- $exclude = list -}}
{{- $include = include "evenkeel.evictNamespaces" . | fromYamlArray -}}
{{- end -}}
!(request.namespace in {{ toJson $exclude }})
{{- with $include }} && request.namespace in {{ toJson . }}{{ end }}
{{- end }}
