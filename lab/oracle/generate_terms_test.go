package oracle

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (g *generatedCluster) randomSelector() *metav1.LabelSelector {
	switch g.Intn(8) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return nil
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier",
			Operator: metav1.LabelSelectorOpExists}}}
	case 3:
		notIn := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a0", "a1"}}
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{notIn}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.oneOf("a0", "a1", "a2", "a3")}}
}

func (g *generatedCluster) randomAffinityTerm() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: topologyKeys[g.Intn(3)], LabelSelector: g.randomSelector()}
	if g.chance(0.2) {
		t.Namespaces = []string{g.oneOf("ns0", "ns1")}
	}
	switch g.Intn(8) {
	case 0:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": g.oneOf("x", "y")}}
	case 2, 3, 4:
		if g.themes["namespaces"] {
			t.NamespaceSelector = g.negativeNamespaceSelector()
		}
	}
	if g.themes["merged"] && t.LabelSelector != nil && g.labels["tier"] != "" {
		g.mergeLabelKeys(&t)
	}
	return t
}

// negativeNamespaceSelector returns a selector that matches namespaces without labels.
func (g *generatedCluster) negativeNamespaceSelector() *metav1.LabelSelector {
	r := metav1.LabelSelectorRequirement{Key: "team", Operator: metav1.LabelSelectorOpDoesNotExist}
	if g.chance(0.6) {
		r.Operator, r.Values = metav1.LabelSelectorOpNotIn, []string{g.oneOf("x", "y")}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}
}

// mergeLabelKeys adds the terms that the API server derives from matchLabelKeys and mismatchLabelKeys.
func (g *generatedCluster) mergeLabelKeys(t *corev1.PodAffinityTerm) {
	r := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{g.labels["tier"]}}
	switch g.Intn(3) {
	case 0:
		t.MatchLabelKeys = []string{"tier"}
	case 1:
		t.MismatchLabelKeys, r.Operator = []string{"tier"}, metav1.LabelSelectorOpNotIn
	default:
		return
	}
	t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, r)
}

func (g *generatedCluster) addTerms(required *[]corev1.PodAffinityTerm, preferred *[]corev1.WeightedPodAffinityTerm) {
	for g.chance(0.35) {
		*required = append(*required, g.randomAffinityTerm())
	}
	for g.chance(0.5) {
		*preferred = append(*preferred, corev1.WeightedPodAffinityTerm{Weight: int32(1 + g.Intn(100)), PodAffinityTerm: g.randomAffinityTerm()})
	}
}

func (g *generatedCluster) randomAffinity() *corev1.Affinity {
	a := &corev1.Affinity{}
	if g.themes["terms"] && g.chance(0.5) {
		a.PodAffinity = &corev1.PodAffinity{}
		g.addTerms(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if g.themes["terms"] && g.chance(0.5) {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		g.addTerms(&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	disk := func(v string) corev1.NodeSelectorTerm {
		in := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{v}}
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in}}
	}
	if g.themes["affinity"] && g.chance(0.8) {
		a.NodeAffinity = &corev1.NodeAffinity{}
		if g.chance(map[bool]float64{true: 0.6, false: 0.4}[g.themes["policies"]]) {
			t := disk(g.oneOf("ssd", "hdd"))
			if g.chance(0.3) {
				name := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n00"}}
				t.MatchFields = []corev1.NodeSelectorRequirement{name}
			}
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{t}}
		}
		for g.chance(0.6) {
			a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(1 + g.Intn(50)), Preference: disk(g.oneOf("ssd", "hdd"))})
		}
	}
	return a
}

func (g *generatedCluster) randomSpreadConstraints() (out []corev1.TopologySpreadConstraint) {
	seen := map[string]bool{}
	for g.chance(0.6) {
		c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + g.Intn(3)), TopologyKey: topologyKeys[g.Intn(3)],
			LabelSelector:     g.randomSelector(),
			WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(g.oneOf("DoNotSchedule", "ScheduleAnyway"))}
		switch {
		case g.themes["policies"]:
			c.TopologyKey, c.LabelSelector = topologyKeys[1+g.Intn(2)],
				&metav1.LabelSelector{MatchLabels: map[string]string{"app": g.labels["app"]}}
		case g.themes["spreadKeys"]:
			exists := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpExists}
			c.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{exists}}
		}
		if id := c.TopologyKey + string(c.WhenUnsatisfiable); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.chance(0.4) {
			m := int32(1 + g.Intn(4))
			c.MinDomains = &m
		}
		policy := func() *corev1.NodeInclusionPolicy {
			if g.chance(0.3) {
				return nil
			}
			p := corev1.NodeInclusionPolicy(g.oneOf("Honor", "Ignore", "Ignore"))
			return &p
		}
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = policy(), policy()
		if g.themes["policies"] && c.NodeAffinityPolicy == nil {
			ignore := corev1.NodeInclusionPolicyIgnore // without a value, the policy is Honor
			c.NodeAffinityPolicy = &ignore
		}
		if c.LabelSelector != nil && g.themes["spreadKeys"] && g.chance(0.8) {
			c.MatchLabelKeys = []string{"tier"}
		}
		out = append(out, c)
	}
	return out
}
