package descheduler

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Names of protections in podProtections.
const (
	failedBarePods = "FailedBarePods"
	daemonSetPods  = "DaemonSetPods"
	podsWithPVC    = "PodsWithPVC"
)

var (
	defaultProtections = []string{"PodsWithLocalStorage", "SystemCriticalPods", failedBarePods, daemonSetPods}
	extraProtections   = []string{podsWithPVC, "PodsWithoutPDB", "PodsWithResourceClaims"}
)

// readProtections converts podProtections and the older keys with the same meaning.
func (c *conversion) readProtections(p *profileModel, g *guardSet, note func(field, text string)) {
	e, path := p.evictor, p.evictorPath+".podProtections"
	disabled, extra := e.PodProtections.DefaultDisabled, e.PodProtections.ExtraEnabled
	c.checkProtections(path+".defaultDisabled", disabled, defaultProtections)
	c.checkProtections(path+".extraEnabled", extra, extraProtections)
	if len(disabled)+len(extra) == 0 {
		disabled, extra = e.olderProtections()
	} else if d, x := e.olderProtections(); len(d)+len(x) > 0 {
		c.findings.fail(path, "the keys of earlier versions are set, too (%s), which the descheduler rejects", strings.Join(e.olderKeys(), ", "))
	}
	g.protect = []string{"PodsWithLocalStorage", daemonSetPods, "SystemCriticalPods", "BarePods", failedBarePods}
	for _, name := range disabled {
		field := e.fieldOf("podProtections.defaultDisabled", name)
		switch name {
		case daemonSetPods:
			note(field, "not kept: a pod of a DaemonSet comes back to its node, so Evenkeel never evicts it")
		default:
			g.protect = without(g.protect, []string{name})
		}
	}
	g.protect = append(g.protect, extra...)
	if pvc := e.PodProtections.Config; pvc != nil && pvc.PodsWithPVC != nil {
		c.readStorageClasses(p, g, note)
	}
}

// readStorageClasses converts the storage classes that restrict the protection PodsWithPVC.
func (c *conversion) readStorageClasses(p *profileModel, g *guardSet, note func(field, text string)) {
	const field = "podProtections.config.PodsWithPVC.protectedStorageClasses"
	classes := p.evictor.PodProtections.Config.PodsWithPVC.ProtectedStorageClasses
	for i, class := range classes {
		if len(validation.IsDNS1123Subdomain(class.Name)) > 0 {
			c.findings.fail(fmt.Sprintf("%s.%s[%d].name", p.evictorPath, field, i), "%q is not the name of a StorageClass", class.Name)
		}
	}
	switch {
	case len(classes) == 0:
	case !slices.Contains(g.protect, podsWithPVC):
		note(field, "no effect without PodsWithPVC in extraEnabled; so it is not kept")
	default:
		g.protect = without(g.protect, []string{podsWithPVC})
		for _, class := range classes {
			g.storageClasses = append(g.storageClasses, class.Name)
		}
	}
}

func (c *conversion) checkProtections(path string, names, want []string) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !slices.Contains(want, name):
			c.findings.fail(at, "%q is unknown (want one of %s)", name, strings.Join(want, ", "))
		case slices.Contains(names[:i], name):
			c.findings.fail(at, "%q occurs twice, which the descheduler rejects", name)
		}
	}
}

// older are the keys of earlier versions, in the order of the documentation, with what they mean today.
func (e *evictorArgs) older() []struct {
	key, name string
	set       bool
	extra     bool
} {
	return []struct {
		key, name string
		set       bool
		extra     bool
	}{
		{"evictLocalStoragePods", "PodsWithLocalStorage", e.EvictLocalStoragePods, false},
		{"evictDaemonSetPods", daemonSetPods, e.EvictDaemonSetPods, false},
		{"evictSystemCriticalPods", "SystemCriticalPods", e.EvictSystemCriticalPods, false},
		{"evictFailedBarePods", failedBarePods, e.EvictFailedBarePods, false},
		{"ignorePvcPods", podsWithPVC, e.IgnorePvcPods, true},
		{"ignorePodsWithoutPDB", "PodsWithoutPDB", e.IgnorePodsWithoutPDB, true},
	}
}

func (e *evictorArgs) olderProtections() (disabled, extra []string) {
	for _, o := range e.older() {
		switch {
		case o.set && o.extra:
			extra = append(extra, o.name)
		case o.set:
			disabled = append(disabled, o.name)
		}
	}
	return disabled, extra
}

func (e *evictorArgs) olderKeys() (keys []string) {
	for _, o := range e.older() {
		if o.set {
			keys = append(keys, o.key)
		}
	}
	return keys
}

// fieldOf returns the key that disabled a protection.
func (e *evictorArgs) fieldOf(key, name string) string {
	for _, o := range e.older() {
		if o.set && o.name == name {
			return o.key
		}
	}
	return key
}
