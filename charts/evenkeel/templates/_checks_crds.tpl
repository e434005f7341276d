{{/* Rejects CustomResourceDefinitions that belong to another release, which Helm would refuse without a remedy. Without a
connection to the cluster, lookup finds none. */}}
{{- define "evenkeel.checkDefinitions" -}}
{{- if dig "install" true (.Values.crds | default dict) -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" -}}
{{- $name := ($.Files.Get $path | fromYaml).metadata.name -}}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
{{- $annotations := .metadata.annotations | default dict -}}
{{- $owner := get $annotations "meta.helm.sh/release-name" -}}
{{- $namespace := get $annotations "meta.helm.sh/release-namespace" -}}
{{- if not (and (eq $owner $.Release.Name) (eq $namespace $.Release.Namespace)) -}}
{{- fail (printf "CustomResourceDefinition %s exists, and belongs to %s (want crds.install: false, or take it over as the README describes)" $name (ternary (printf "release %s in namespace %s" $owner $namespace) "no release of Helm" (ne $owner ""))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
