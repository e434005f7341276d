{{/* Rejects values whose text has a wrong format. The JSON Schema checks types and words only, because its messages about
patterns do not say what is wanted. */}}
{{- define "evenkeel.checkFormats" -}}
{{- $dns := "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" -}}
{{- $name := "lower-case letters, digits and hyphens" -}}
{{- $image := .Values.image | default dict -}}
{{- include "evenkeel.match" (list "image.registry" $image.registry "^[a-zA-Z0-9][-._:/a-zA-Z0-9]*$" "a host, such as registry.example.org:5000, without https://") -}}
{{- include "evenkeel.match" (list "image.tag" $image.tag "^[a-zA-Z0-9_][-._a-zA-Z0-9]{0,127}$" "a tag, such as 0.1.0, without a colon") -}}
{{- include "evenkeel.match" (list "image.digest" $image.digest "^sha256:[0-9a-f]{64}$" "sha256: and 64 hexadecimal digits") -}}
{{- range $key := list "nameOverride" "fullnameOverride" "namespaceOverride" -}}
{{- include "evenkeel.match" (list $key (get $.Values $key) $dns $name) -}}
{{- end -}}
{{- include "evenkeel.checkPushURL" . -}}
{{- include "evenkeel.match" (list "metrics.pushURL" (.Values.metrics | default dict).pushURL "^https?://[^/]" "a URL, such as http://pushgateway.monitoring:9091") -}}
{{- with (.Values.podDisruptionBudget | default dict).maxUnavailable -}}
{{- include "evenkeel.match" (list "podDisruptionBudget.maxUnavailable" (include "evenkeel.text" .) "^[0-9]+%?$" "a number of pods, or a share such as 50%") -}}
{{- end -}}
{{- range $i, $volume := .Values.extraVolumes -}}
{{- if has $volume.name (list "config" "tls") -}}
{{- fail (printf "extraVolumes[%d].name is %s, which is a volume of the chart (want another name)" $i $volume.name) -}}
{{- end -}}
{{- end -}}
{{- range $i, $mount := .Values.extraVolumeMounts -}}
{{- include "evenkeel.match" (list (printf "extraVolumeMounts[%d].mountPath" $i) $mount.mountPath "^/" "an absolute path, such as /var/run/secrets/prometheus") -}}
{{- end -}}
{{- range $name, $_ := .Values.extraFiles -}}
{{- include "evenkeel.match" (list "the name of a file in extraFiles" $name "^[-._a-zA-Z0-9]+$" "a name without folders; the files are in /etc/evenkeel") -}}
{{- end -}}
{{- end }}

{{/* Rejects credentials in metrics.pushURL, because everybody who may read the pod sees its arguments. The error does not
repeat them. References to variables are not secret. */}}
{{- define "evenkeel.checkPushURL" -}}
{{- $url := (.Values.metrics | default dict).pushURL | default "" -}}
{{- if and (regexMatch "^https?://[^/]*@" $url) (not (regexMatch "^https?://[$][(]\\w+[)](:[$][(]\\w+[)])?@[^/@]+(/.*)?$" $url)) -}}
{{- fail "metrics.pushURL contains a user or a password, which everybody who may read the pod would see (want $(PUSH_USER):$(PUSH_PASSWORD)@, and both variables from a Secret in extraEnv)" -}}
{{- end -}}
{{- end }}

{{/* Rejects a text that is not empty and does not match. Call it with a list: key, text, pattern, what is wanted. */}}
{{- define "evenkeel.match" -}}
{{- $text := index . 1 -}}
{{- if and $text (not (regexMatch (index . 2) $text)) -}}
{{- fail (printf "%s is %q (want %s)" (index . 0) $text (index . 3)) -}}
{{- end -}}
{{- end }}
