{{/* A ValidatingAdmissionPolicy for a ServiceAccount, up to its validations, and its binding. Call it with a dict:
root; name; groups; resources; operations; own, true if it concerns only the namespace of the release; everybody, true if
it concerns all accounts, then the caller adds match conditions; account, if it is not that of the release; and hook, a
dict as for evenkeel.hook if the policy belongs to a hook. */}}
{{- define "evenkeel.policy" -}}
{{- $name := printf "%s-%s" (include "evenkeel.clusterName" .root) .name -}}
{{- $account := .account | default (include "evenkeel.serviceAccountName" .root) -}}
{{- $hook := dict -}}
{{- with .hook }}{{ $hook = include "evenkeel.hook" . | fromYaml }}{{ end -}}
{{- $metadata := dict "root" .root "name" $name "cluster" true "annotations" $hook -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  {{- include "evenkeel.metadata" $metadata | nindent 2 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  {{- include "evenkeel.metadata" $metadata | nindent 2 }}
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
      request.userInfo.username == "system:serviceaccount:{{ include "evenkeel.namespace" .root }}:{{ $account }}"
  {{- end }}
{{- end }}

{{/* The condition, in CEL, that the namespace of a request is one in which pods may be evicted and deleted. Without
config.namespaces.exclude, the program excludes kube-system. If an existing ConfigMap hides the configuration, kube-system is
excluded unless rbac.evictNamespaces names it. */}}
{{- define "evenkeel.removalNamespaces" -}}
{{- $exclude := (.Values.config.namespaces | default dict).exclude -}}
{{- if kindIs "invalid" $exclude }}{{ $exclude = list "kube-system" }}{{ end -}}
{{- $include := include "evenkeel.plannedNamespaces" . | fromYamlArray -}}
{{- if include "evenkeel.external" . -}}
{{- $include = include "evenkeel.evictNamespaces" . | fromYamlArray -}}
{{- $exclude = has "kube-system" (.Values.rbac.evictNamespaces | default list) | ternary list (list "kube-system") -}}
{{- end -}}
!({{ include "evenkeel.inNamespaces" $exclude }})
{{- with $include }} && {{ include "evenkeel.inNamespaces" . }}{{ end }}
{{- end }}

{{/* The condition, in CEL, that a list has the namespace of a request: by name, or by prefix, such as openshift-*. */}}
{{- define "evenkeel.inNamespaces" -}}
{{- $names := list -}}
{{- $prefixes := list -}}
{{- range . -}}
{{- if hasSuffix "*" (toString .) }}{{ $prefixes = append $prefixes (trimSuffix "*" .) }}{{ else }}{{ $names = append $names (toString .) }}{{ end -}}
{{- end -}}
{{- if $prefixes }}({{ toJson $prefixes }}.exists(p, request.namespace.startsWith(p)) || {{ end -}}
request.namespace in {{ toJson $names }}
{{- if $prefixes }}){{ end }}
{{- end }}
