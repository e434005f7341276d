package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityAdmissionRefusesTheReplacement: the API server refuses what it accepted when the pods of d were created.
// Evenkeel evicts none of them. When the API server accepts them again, they move.
func TestSecurityAdmissionRefusesTheReplacement(t *testing.T) {
	skipIfShort(t)
	ctx, ns := context.WithoutCancel(t.Context()), seedApps(t, nil) // the cleanup needs it after the end
	core := lab.Client.CoreV1()
	enforce := func(level string) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%s}}}`, level)
		_, err := core.Namespaces().Patch(ctx, ns, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	meta := metav1.ObjectMeta{Name: ns}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
	runtimeClass := &nodev1.RuntimeClass{ObjectMeta: meta, Handler: "runc"}
	priority := &schedulingv1.PriorityClass{ObjectMeta: meta, Value: 1000}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "sizes"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypePod, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}}
	cases := []struct {
		name             string
		refuse, tolerate func() error
	}{
		{"Pod Security", func() error { return enforce(`"restricted"`) }, func() error { return enforce("null") }},
		{"LimitRange",
			func() error { _, err := core.LimitRanges(ns).Create(ctx, limits, metav1.CreateOptions{}); return err },
			func() error { return core.LimitRanges(ns).Delete(ctx, limits.Name, metav1.DeleteOptions{}) }},
		{"ServiceAccount",
			func() error { return core.ServiceAccounts(ns).Delete(ctx, account.Name, metav1.DeleteOptions{}) },
			func() error {
				_, err := core.ServiceAccounts(ns).Create(ctx, account, metav1.CreateOptions{})
				return err
			}},
		{"RuntimeClass",
			func() error { return lab.Client.NodeV1().RuntimeClasses().Delete(ctx, ns, metav1.DeleteOptions{}) },
			func() error {
				_, err := lab.Client.NodeV1().RuntimeClasses().Create(ctx, runtimeClass, metav1.CreateOptions{})
				return err
			}},
		{"PriorityClass",
			func() error {
				return lab.Client.SchedulingV1().PriorityClasses().Delete(ctx, ns, metav1.DeleteOptions{})
			},
			func() error {
				_, err := lab.Client.SchedulingV1().PriorityClasses().Create(ctx, priority, metav1.CreateOptions{})
				return err
			}},
	}
	for _, c := range cases[2:] {
		must.Succeed(t, c.tolerate())
	}
	t.Cleanup(func() {
		for _, c := range cases[3:] {
			if err := c.refuse(); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	apps := seed.ThreeZoneApps([3]int{1, 1, 4}, 2)
	for i := range apps {
		apps[i].Change = func(s *corev1.PodSpec) {
			s.ServiceAccountName, s.RuntimeClassName, s.PriorityClassName = account.Name, &ns, ns
			s.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		}
	}
	must.Succeed(t, seed.CreateApps(ctx, lab.Client, ns, apps))
	accepts := func(want bool) {
		t.Helper()
		if err := seed.WaitUntil(ctx, time.Minute, func() (bool, error) { // admission plugins read caches
			rs, err := lab.Client.AppsV1().ReplicaSets(ns).Get(ctx, "d-seed", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"probe": ns}}, Spec: rs.Spec.Template.Spec}
			_, err = core.Pods(ns).Create(ctx, p, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil && !apierrors.IsForbidden(err) {
				return false, err
			}
			return (err == nil) == want, nil
		}); err != nil {
			t.Fatalf("the API server accepts a replacement, want %t: %v", want, err)
		}
	}
	args := []string{"run", "--once", "-o", "json", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			accepts(true)
			must.Succeed(t, c.refuse())
			accepts(false)
			r := parseReport(t, runEvenkeel(t, args...).stdout)
			if r.NotMoved()["ReplacementRefused"] == 0 || len(r.Spec.Moves) != 0 {
				t.Errorf("%d moves, rejections %v", len(r.Spec.Moves), r.NotMoved())
			}
			checkEvictions(t, ns, 0)
			must.Succeed(t, c.tolerate())
			accepts(true)
		})
	}
	if r := runEvenkeel(t, args...); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkEvictions(t, ns, 2)
	checkZones(t, ns, "d", 2, 2, 2)
}
