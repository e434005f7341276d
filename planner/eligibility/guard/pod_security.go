package guard

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// podSecurity evaluates the levels of Pod Security with the checks of every version.
var podSecurity = func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err) // the checks of the library contradict each other
	}
	return e
}()

func enforcesPodSecurity(ns *corev1.Namespace) bool {
	return ns != nil && ns.Labels[api.EnforceLevelLabel] != ""
}

// podSecurityRefusal follows the plugin PodSecurity with its default configuration, which enforces nothing in a
// namespace without the label pod-security.kubernetes.io/enforce. A level or version that cannot be read counts as
// restricted or latest, as in the plugin. An API server knows no version that is newer than its own.
func podSecurityRefusal(_ *admission, s *cluster.Snapshot, sub submission) string {
	ns := s.Namespace(sub.namespace)
	if !enforcesPodSecurity(ns) {
		return ""
	}
	none := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	effective, _ := api.PolicyToEvaluate(ns.Labels, api.Policy{Enforce: none, Audit: none, Warn: none})
	judged := effective.Enforce
	if server := api.MajorMinorVersion(s.ServerMajor, s.ServerMinor); server.Older(judged.Version) {
		judged.Version = server
	}
	result := policy.AggregateCheckResults(podSecurity.EvaluatePod(judged, sub.meta, sub.spec))
	if result.Allowed {
		return ""
	}
	return fmt.Sprintf("namespace %s enforces Pod Security %s, which %s violates: %s", ns.Name, effective.Enforce.String(), sub.what, result.ForbiddenReason())
}
