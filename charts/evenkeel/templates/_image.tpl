{{/* The reference of the image. A digest wins over a tag. */}}
{{- define "evenkeel.image" -}}
{{- $image := .Values.image | default dict -}}
{{- $repository := include "evenkeel.imageRepository" . -}}
{{- $digest := $image.digest | default (include "evenkeel.releasedDigest" .) -}}
{{- with include "evenkeel.imageRegistry" . }}{{ . }}/{{ end }}{{ $repository -}}
{{- if or $image.tag (not $digest) }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- with $digest }}@{{ . }}{{ end -}}
{{- end }}

{{/* The registry before the repository, or "". The registry of a release does not go before a repository that has one. */}}
{{- define "evenkeel.imageRegistry" -}}
{{- $image := .Values.image | default dict -}}
{{- $registry := (.Values.global | default dict).imageRegistry | default $image.registry | default "" | trimSuffix "/" -}}
{{- $host := regexFind "^[^/]+/" (toString $image.repository) -}}
{{- $released := index .Chart.Annotations "evenkeel.io/image" -}}
{{- if not (and $released (hasPrefix (printf "%s/" $registry) $released) (regexMatch "[.:]|^localhost/" $host)) }}{{ $registry }}{{ end -}}
{{- end }}

{{/* The digest of the image of a release, which its chart names in an annotation. It holds for the repository of the release,
also in another registry, unless the values have a tag. */}}
{{- define "evenkeel.releasedDigest" -}}
{{- $image := .Values.image | default dict -}}
{{- with index .Chart.Annotations "evenkeel.io/image" -}}
{{- $parts := splitList "@" . -}}
{{- if and (not $image.tag) (hasSuffix (printf "/%s" $image.repository) (first $parts)) }}{{ last $parts }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.imageRepository" -}}
{{- $repository := (.Values.image | default dict).repository | default "" -}}
{{- if not $repository -}}
{{- fail "image.repository is empty, and the chart of the source tree has no image. Build one, push it to a registry that your nodes can pull from, and name it: --set image.repository=registry.example.org/team/evenkeel" -}}
{{- end -}}
{{- if or (contains "@" $repository) (contains ":" (base $repository)) -}}
{{- fail (printf "image.repository is %s, which has a tag or a digest. Want the name alone; the rest goes into image.tag or image.digest" $repository) -}}
{{- end -}}
{{- $repository -}}
{{- end }}

{{/* The secrets for pulling the image: those of all charts, then those of this one, each once. */}}
{{- define "evenkeel.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- range concat ((.Values.global | default dict).imagePullSecrets | default list) (.Values.imagePullSecrets | default list) -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with $secrets | uniq -}}
imagePullSecrets:
{{ toYaml . }}
{{- end -}}
{{- end }}
