{{/* Rejects values of pods and workloads that Kubernetes or the program would reject, or that would have no effect. */}}
{{- define "evenkeel.checkWorkload" -}}
{{- include "evenkeel.checkLabels" . -}}
{{- include "evenkeel.checkBudget" . -}}
{{- include "evenkeel.checkArgs" . -}}
{{- $metrics := .Values.metrics | default dict -}}
{{- if and $metrics.pushURL (eq .Values.kind "Deployment") -}}
{{- fail "metrics.pushURL is set, but only jobs push their metrics, and kind is Deployment (want kind: CronJob, or no metrics.pushURL: let Prometheus scrape the Deployment)" -}}
{{- end -}}
{{- if and $metrics.authorize (eq .Values.kind "Deployment") (not (include "evenkeel.external" .)) (dig "load" "serve" false .Values.config) -}}
{{- fail "metrics.authorize and config.load.serve are both true, but the clients of a load-watcher send no token, so each would get 401 (want metrics.authorize: false and networkPolicy.from, or config.load.serve: false)" -}}
{{- end -}}
{{- if and $metrics.authorize (eq .Values.kind "Deployment") (not (include "evenkeel.tls" .)) -}}
{{- fail "metrics.authorize is true, but tls.secretName is empty, so tokens would travel in plain text (want tls.secretName: the name of a Secret with tls.crt and tls.key)" -}}
{{- end -}}
{{- if eq .Values.kind "CronJob" }}{{ include "evenkeel.checkUnusedByJobs" . }}{{ end -}}
{{- if and .Values.extraContainers (eq .Values.kind "CronJob") -}}
{{- fail "extraContainers is set, but kind is CronJob, and a job ends only when all its containers have ended (want initContainers with restartPolicy: Always, which end with the job)" -}}
{{- end -}}
{{- end }}

{{/* Rejects values that have no effect on jobs. */}}
{{- define "evenkeel.checkUnusedByJobs" -}}
{{- $metrics := .Values.metrics | default dict -}}
{{- $unused := dict
  "tls.secretName" (.Values.tls | default dict).secretName
  "service.enabled" .Values.service.enabled
  "podDisruptionBudget.enabled" (.Values.podDisruptionBudget | default dict).enabled
  "networkPolicy.from" (.Values.networkPolicy | default dict).from
  "metrics.authorize" $metrics.authorize -}}
{{- range $key, $value := $unused -}}
{{- if $value -}}
{{- fail (printf "%s is set, but kind is CronJob, and the pods of jobs serve nothing and end by themselves (want kind: Deployment, or no %s)" $key $key) -}}
{{- end -}}
{{- end -}}
{{- if and ($metrics.dashboard | default dict).enabled (not $metrics.pushURL) -}}
{{- fail "metrics.dashboard.enabled is true, but kind is CronJob without metrics.pushURL, so the dashboard would be empty (want metrics.pushURL, or kind: Deployment)" -}}
{{- end -}}
{{- end }}

{{/* Rejects arguments that contradict those of the chart. */}}
{{- define "evenkeel.checkArgs" -}}
{{- $wants := dict
  "config" "the settings under config, which the chart writes to config.yaml"
  "once" "kind: CronJob"
  "strategy" "a schedule for each strategy"
  "lease-namespace" "namespaceOverride"
  "lease-timeout" "cronJob.activeDeadlineSeconds"
  "pass-timeout" "cronJob.activeDeadlineSeconds"
  "bind-address" "service.port; the pods always serve on port 8080"
  "authorize-metrics" "metrics.authorize"
  "tls-cert-file" "tls.secretName"
  "tls-private-key-file" "tls.secretName"
  "push-url" "metrics.pushURL" -}}
{{- range $arg := .Values.extraArgs -}}
{{- with get $wants (regexFind "^--[a-z-]+" $arg | trimPrefix "--") -}}
{{- fail (printf "extraArgs contains %s, which the chart sets itself (want %s)" $arg .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Rejects labels that would break the selectors of the release. */}}
{{- define "evenkeel.checkLabels" -}}
{{- range $value := list "commonLabels" "podLabels" -}}
{{- range $key := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- if hasKey (get $.Values $value | default dict) $key -}}
{{- fail (printf "%s contains %s, by which the release finds its own objects (want another key, such as app.kubernetes.io/part-of)" $value $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Rejects a PodDisruptionBudget that would block each drain of a node. */}}
{{- define "evenkeel.checkBudget" -}}
{{- $budget := .Values.podDisruptionBudget | default dict -}}
{{- $max := toString $budget.maxUnavailable -}}
{{- if and $budget.enabled (has $max (list "0" "0%" "<nil>")) -}}
{{- fail (printf "podDisruptionBudget.maxUnavailable is %s, which blocks every drain of a node with a pod of Evenkeel (want at least 1)" $max) -}}
{{- end -}}
{{- end }}

{{/* Rejects a NetworkPolicy that cuts off a server of which the chart knows the address. */}}
{{- define "evenkeel.checkEgress" -}}
{{- $egress := (.Values.networkPolicy | default dict).egress | default dict -}}
{{- if and $egress.enabled (not $egress.rules) -}}
{{- $open := list -}}
{{- range $egress.apiServerPorts | default (list 443 6443) }}{{ $open = append $open (toString .) }}{{ end -}}
{{- range $key, $url := include "evenkeel.servers" . | fromYaml -}}
{{- $host := regexFind "://[^/?#]*" $url -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" | default (hasPrefix "https:" $url | ternary "443" "80") -}}
{{- if not (or (has $port $open) (contains "$(" $host)) -}}
{{- fail (printf "networkPolicy.egress.enabled is true, and its rules are empty, so the pods could not connect to %s: %s (want a rule in networkPolicy.egress.rules for the pods of this server and the port on which they listen, or networkPolicy.egress.enabled: false)" $key $url) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The addresses of the servers, besides the API server, to which the pods connect, by the value that names them, as YAML. */}}
{{- define "evenkeel.servers" -}}
{{- $servers := dict -}}
{{- with (.Values.metrics | default dict).pushURL }}{{ $_ := set $servers "metrics.pushURL" . }}{{ end -}}
{{- if not (include "evenkeel.external" .) -}}
{{- $load := .Values.config.load | default dict -}}
{{- $alerts := dig "evictor" "breaker" "prometheusAlerts" list .Values.config -}}
{{- if or (eq (toString $load.source) "prometheus") $alerts -}}
{{- with ($load.prometheus | default dict).url }}{{ $_ := set $servers "config.load.prometheus.url" . }}{{ end -}}
{{- end -}}
{{- if eq (toString $load.source) "loadWatcher" -}}
{{- with ($load.loadWatcher | default dict).url }}{{ $_ := set $servers "config.load.loadWatcher.url" . }}{{ end -}}
{{- end -}}
{{- range $i, $receiver := .Values.config.notify -}}
{{- with $receiver.url }}{{ $_ := set $servers (printf "config.notify[%d].url" $i) . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $servers -}}
{{- end }}
