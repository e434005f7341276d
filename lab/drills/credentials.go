package drills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// configureSlowPass configures limits with which a pass lasts long enough to lose a permission partway. The pass must
// take longer than 10 s, because the API server caches a token review that long.
func (s *drillRun) configureSlowPass(ctx context.Context) error {
	if s.options.Short {
		return s.configure(ctx, "0 0 1 1 *")
	}
	s.rules.PerMinute, s.rules.PerPass, s.rules.PerOwner = 15, 10, 3
	return s.configure(ctx, "0 0 1 1 *")
}

// deleteTokenPods deletes, in the middle of a pass, the pod to which the process's ServiceAccount token is bound.
func deleteTokenPods(ctx context.Context, s *drillRun) error {
	if err := s.configureSlowPass(ctx); err != nil {
		return err
	}
	return s.repeatFailure(ctx, func(try int) error { return s.deleteTokenPod(ctx, try) })
}

func (s *drillRun) deleteTokenPod(ctx context.Context, i int) error {
	name := fmt.Sprintf("evenkeel-%d", i)
	token, err := s.boundToken(ctx, name)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	now := int64(0)
	h := processOptions{token: token, user: "system:serviceaccount:" + s.namespace + ":" + name}
	p, err := s.runInterrupted(ctx, h, 1+s.random.IntN(2), func() {
		failed <- s.cluster.Client.CoreV1().Pods(s.namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	if p == nil {
		return err
	}
	s.logProgress("%s", s.exitSummary(p))
	return <-failed
}

// boundToken creates a ServiceAccount, a pod, and a token that expires with the pod.
func (s *drillRun) boundToken(ctx context.Context, name string) (string, error) {
	api := s.cluster.Client.CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := api.ServiceAccounts(s.namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	bare := podTemplate(app{name: name, milliCPU: 10})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: bare.Spec}
	pod.Spec.ServiceAccountName = name
	if err := seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		p, err := api.Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err == nil {
			pod = p
		}
		return err == nil, err
	}); err != nil {
		return "", err
	}
	if err := s.workload.waitUntilStable(ctx, stableTimeout); err != nil {
		return "", err
	}
	t, err := api.ServiceAccounts(s.namespace).CreateToken(ctx, name, &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
		BoundObjectRef: &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking for a token: %w", err)
	}
	return t.Status.Token, nil
}

// revokePermissions revokes a permission in the middle of a pass and grants it again for the next one.
func revokePermissions(ctx context.Context, s *drillRun) error {
	if err := s.configureSlowPass(ctx); err != nil {
		return err
	}
	rights := []string{evictRole, stateRole, leaseRole, readRole, objectsRole}
	return s.repeatFailure(ctx, func(int) error { return s.revokePermission(ctx, rights[s.completed%len(rights)]) })
}

func (s *drillRun) revokePermission(ctx context.Context, right string) error {
	failed := make(chan error, 1)
	n := 2 + s.random.IntN(2) // at least one eviction succeeds before the permission is revoked
	p, err := s.runInterrupted(ctx, processOptions{}, n, func() { failed <- s.revoke(ctx, right) })
	if p == nil {
		return err
	}
	s.logProgress("%s revoked at eviction %d: %s", strings.TrimPrefix(right, "evenkeel-drills-"), n, s.exitSummary(p))
	// A pass without the permission to evict must not end with exit code 0.
	if right == evictRole && p.cmd.ProcessState.ExitCode() != 1 {
		s.addViolation(auditverifier.ProcessFailure, p.user,
			"the process exited with %d although it had no permission to evict", p.cmd.ProcessState.ExitCode())
	}
	return errors.Join(<-failed, s.grant(ctx, right))
}
