package descheduler

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/config"
)

// quotePriority returns a number or a name as YAML text.
func quotePriority(text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return text
	}
	return quote(text)
}

// writeGuards writes the key guards of the configuration.
func (w *writer) writeGuards() {
	g := w.c.guards
	w.printf("guards:\n")
	w.sectionComments("guards", "  ")
	line := func(key, value, remark string) {
		if remark != "" {
			w.comment("  ", remark)
		}
		w.printf("  %s: %s\n", key, value)
	}
	line("minReplicas", strconv.Itoa(g.minReplicas), w.c.minReplicasRemark())
	line("minPodAge", config.Duration(g.minPodAge).String(), w.c.minPodAgeRemark())
	line("maxGracePeriod", "24h", "The descheduler has no such guard. A pass waits for the pods that it evicts, so Evenkeel's default is 10m.")
	line("priorityBelow", quotePriority(g.priorityBelow), "")
	line("maxUnavailableWithoutPDB", "1000000", "The descheduler has no such guard. Evenkeel's default is 1.")
	line("protect", flowList(g.protect), "Evenkeel's defaults also contain Jobs, DegradedWorkloads and LastReadyPods, which are recommended.")
	if len(g.storageClasses) > 0 {
		line("protectedStorageClasses", flowList(g.storageClasses), "")
	}
	if g.podSelector != "" {
		line("podSelector", strconv.Quote(g.podSelector), "")
	}
	line("noEvictionPolicy", g.noEvictionPolicy, "")
	line("controllers", "[]", "The descheduler evicts the pods of every controller. For Evenkeel, the pods of controllers that it does not know stay, "+
		"such as those of operators, unless this list names the kind (group/Kind). Known without it: the controllers of Kubernetes, and "+
		"Rollout of Argo, DeploymentConfig of OpenShift, CloneSet and StatefulSet of OpenKruise.")
}

func (c *conversion) minReplicasRemark() string {
	return c.looseRemark("minReplicas", "2", strconv.Itoa(c.guards.minReplicas), func(g guardSet) string {
		if g.minReplicas == 1 {
			return ""
		}
		return strconv.Itoa(g.minReplicas)
	})
}

func (c *conversion) minPodAgeRemark() string {
	return c.looseRemark("minPodAge", "5m", config.Duration(c.guards.minPodAge).String(), func(g guardSet) string {
		if g.minPodAge == 0 {
			return ""
		}
		return config.Duration(g.minPodAge).String()
	})
}

// looseRemark returns a comment about a global guard that is loose, because the policy or some of
// its profiles do not set it. ofProfile returns the value of a profile, or "" if it sets none.
func (c *conversion) looseRemark(key, recommended, global string, ofProfile func(guardSet) string) string {
	var without, with []string
	for _, p := range c.profiles {
		name := cmp.Or(p.name, "without a name")
		switch value := ofProfile(p.guards); {
		case value == "":
			without = append(without, name)
		case value != global:
			with = append(with, fmt.Sprintf("strategies of profile %s have %s: %s", name, key, value))
		}
	}
	advice := "Evenkeel's default is " + recommended + "."
	switch {
	case ofProfile(c.guards) != "":
		return ""
	case len(with) == 0:
		return "The policy does not set this guard. " + advice
	case len(without) == 1:
		return fmt.Sprintf("Profile %s does not set this guard, so the global value is loose; %s. %s", without[0], strings.Join(with, "; "), advice)
	}
	last := len(without) - 1
	return fmt.Sprintf("Profiles %s and %s do not set this guard, so the global value is loose; %s. %s",
		strings.Join(without[:last], ", "), without[last], strings.Join(with, "; "), advice)
}
