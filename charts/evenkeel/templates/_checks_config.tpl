{{/* Rejects values that the program would reject, or that would have no effect. */}}
{{- define "evenkeel.checkConfig" -}}
{{- $config := .Values.config -}}
{{- if hasKey (.Values.extraFiles | default dict) "config.yaml" -}}
{{- fail "extraFiles contains config.yaml, which is made from config (want the settings under config, or another name)" -}}
{{- end -}}
{{- range $name, $strategy := include "evenkeel.strategies" . | fromYaml -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" $name) -}}
{{- fail (printf "config.strategies has the name %q (want at most 63 lower-case letters, digits and hyphens)" $name) -}}
{{- end -}}
{{- if not $strategy.type -}}
{{- fail (printf "config.strategies.%s has no type, and no preset of config.preset has a strategy of this name (want a type, or one more preset)" $name) -}}
{{- end -}}
{{- if not (or $strategy.schedule $strategy.onNodeReady) -}}
{{- fail (printf "config.strategies.%s has no schedule, so it would never run (want a schedule, such as \"@hourly\", or onNodeReady with kind Deployment)" $name) -}}
{{- end -}}
{{- end -}}
{{- $source := toString (dig "load" "source" "requests" $config) -}}
{{- if and (eq $source "prometheus") (not (dig "load" "prometheus" "url" "" $config)) -}}
{{- fail "config.load.source is prometheus, but config.load.prometheus.url is empty (want a URL, such as http://prometheus.monitoring:9090)" -}}
{{- end -}}
{{- if and (eq $source "loadWatcher") (not (dig "load" "loadWatcher" "url" "" $config)) -}}
{{- fail "config.load.source is loadWatcher, but config.load.loadWatcher.url is empty (want a URL, such as http://load-watcher.monitoring:2020)" -}}
{{- end -}}
{{- include "evenkeel.file" (dict "root" . "key" "config.hints.rulesFile" "file" (dig "hints" "rulesFile" "" $config)) -}}
{{- include "evenkeel.file" (dict "root" . "key" "config.placement.schedulerConfig" "file" (dig "placement" "schedulerConfig" "" $config)) -}}
{{- $root := . -}}
{{- range $i, $r := $config.notify -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.notify[%d].urlFile" $i) "file" ($r.urlFile | default "")) -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.notify[%d].tokenFile" $i) "file" ($r.tokenFile | default "")) -}}
{{- end -}}
{{- $files := dict
  "prometheus" (list "tokenFile" "basicAuth.passwordFile" "oauth2.clientSecretFile" "caFile" "certFile" "keyFile")
  "loadWatcher" (list "tokenFile" "caFile") -}}
{{- range get $files $source | default list -}}
{{- $keys := splitList "." . -}}
{{- $section := dig "load" $source dict $config -}}
{{- $file := get $section (first $keys) -}}
{{- if gt (len $keys) 1 }}{{ $file = get ($file | default dict) (last $keys) }}{{ end -}}
{{- include "evenkeel.file" (dict "root" $root "key" (printf "config.load.%s.%s" $source .) "file" ($file | default "")) -}}
{{- end -}}
{{- if eq .Values.kind "CronJob" -}}
{{- include "evenkeel.checkJobs" . -}}
{{- end -}}
{{- end }}

{{/* Rejects strategies that jobs cannot run. */}}
{{- define "evenkeel.checkJobs" -}}
{{- $config := .Values.config -}}
{{- $strategies := include "evenkeel.strategies" . | fromYaml -}}
{{- if not $strategies -}}
{{- fail "config.preset and config.strategies have no strategy, so kind CronJob would make no job (want at least one strategy, or kind: Deployment)" -}}
{{- end -}}
{{- range $name, $strategy := $strategies -}}
{{- if $strategy.onNodeReady -}}
{{- fail (printf "config.strategies.%s has onNodeReady, but a job does not wait for nodes (want kind Deployment, or a schedule without onNodeReady)" $name) -}}
{{- end -}}
{{- end -}}
{{- $source := toString (dig "load" "source" "requests" $config) -}}
{{- if has $source (list "metricsServer" "loadWatcher") -}}
{{- range $name, $strategy := $strategies -}}
{{- if and (eq (toString ($strategy.args | default dict).basis) "load") (gt (int ($strategy.args | default dict).for) 1) -}}
{{- include "evenkeel.oneSample" (dict "what" (printf "config.strategies.%s" $name) "source" $source) -}}
{{- end -}}
{{- end -}}
{{- range $r := eq (include "evenkeel.hints" .) "true" | ternary (dig "hints" "rules" list $config) list -}}
{{- if gt (int ($r.for | default 1)) 1 -}}
{{- include "evenkeel.oneSample" (dict "what" (printf "config.hints.rules: %s" $r.name) "source" $source) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.oneSample" -}}
{{- fail (printf "%s needs several consecutive samples (for), but a job takes only one, and %s keeps none between jobs (want kind Deployment, config.load.source: prometheus, or for: 1)" .what .source) -}}
{{- end }}

{{/* Rejects a file that the configuration names if it is neither in extraFiles nor below one of extraVolumeMounts, nor beside
the token of the ServiceAccount. A relative name starts in the directory of config.yaml. */}}
{{- define "evenkeel.file" -}}
{{- if .file -}}
{{- $path := hasPrefix "/" .file | ternary .file (printf "/etc/evenkeel/%s" .file) | clean -}}
{{- $found := hasKey (.root.Values.extraFiles | default dict) (trimPrefix "/etc/evenkeel/" $path) -}}
{{- range .root.Values.extraVolumeMounts -}}
{{- if or (eq $path .mountPath) (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $path) -}}
{{- $found = true -}}
{{- end -}}
{{- end -}}
{{- if and .root.Values.automountServiceAccountToken (hasPrefix "/var/run/secrets/kubernetes.io/serviceaccount/" $path) -}}
{{- $found = true -}}
{{- end -}}
{{- if not $found -}}
{{- fail (printf "%s is %s, which the pods do not have (want it in extraFiles, such as --set-file 'extraFiles.%s=%s', or mounted with extraVolumeMounts)" .key .file (base $path | replace "." "\\.") (base $path)) -}}
{{- end -}}
{{- end -}}
{{- end }}
