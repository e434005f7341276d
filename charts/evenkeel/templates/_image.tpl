{{/* The reference of the image. A digest wins over a tag. */}}
{{- define "evenkeel.image" -}}
{{- $image := .Values.image | default dict -}}
{{- $repository := include "evenkeel.imageRepository" . -}}
{{- $registry := (.Values.global | default dict).imageRegistry | default $image.registry -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $repository -}}
{{- if or $image.tag (not $image.digest) }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- with $image.digest }}@{{ . }}{{ end -}}
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
