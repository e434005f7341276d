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

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// tokenNamespace is the namespace of the drill with ServiceAccounts.
const tokenNamespace = "drill-token"

// configureSlowPass makes a pass last long enough to lose a permission in its middle. The API server caches a token
// review for 10 s.
func (s *stage) slowly(ctx context.Context) error {
	if s.o.Short {
		return s.configure(ctx, "0 0 1 1 *")
	}
	s.rules.PerMinute, s.rules.PerPass, s.rules.PerOwner = 15, 10, 3
	return s.configure(ctx, "0 0 1 1 *")
}

// deleteTokenPods deletes, in the middle of a pass, the pod that the process's ServiceAccount token is bound to.
func tokenGone(ctx context.Context, s *stage) error {
	if err := s.slowly(ctx); err != nil {
		return err
	}
	return s.again(ctx, func(try int) error { return s.tokenOnce(ctx, try) })
}

func (s *stage) tokenOnce(ctx context.Context, i int) error {
	name := fmt.Sprintf("evenkeel-%d", i)
	token, err := s.boundToken(ctx, name)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	now := int64(0)
	h := how{token: token, user: "system:serviceaccount:" + s.namespace + ":" + name}
	p, err := s.interrupted(ctx, h, 1+s.rnd.IntN(2), func() {
		failed <- s.c.Client.CoreV1().Pods(s.namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	if p == nil {
		return err
	}
	s.progress("%s", s.ending(p))
	return <-failed
}

// boundToken creates a ServiceAccount, a pod, and a token that expires with the pod.
func (s *stage) boundToken(ctx context.Context, name string) (string, error) {
	api := s.c.Client.CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := api.ServiceAccounts(s.namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	bare := podTemplate(app{name: name, milliCPU: 10})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: bare.Spec}
	pod.Spec.ServiceAccountName = name
	if err := seed.Until(ctx, time.Minute, func() (bool, error) {
		p, err := api.Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err == nil {
			pod = p
		}
		return err == nil, err
	}); err != nil {
		return "", err
	}
	if err := s.town.settle(ctx, settleTime); err != nil {
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
func permissionGone(ctx context.Context, s *stage) error {
	if err := s.slowly(ctx); err != nil {
		return err
	}
	rights := []string{mayEvict, mayRecord, mayLead, mayRead}
	return s.again(ctx, func(int) error { return s.rightOnce(ctx, rights[s.did%len(rights)]) })
}

func (s *stage) rightOnce(ctx context.Context, right string) error {
	failed := make(chan error, 1)
	n := 2 + s.rnd.IntN(2) // at least one eviction succeeds before the permission is revoked
	p, err := s.interrupted(ctx, how{}, n, func() { failed <- s.revoke(ctx, right) })
	if p == nil {
		return err
	}
	s.progress("%s revoked at eviction %d: %s", strings.TrimPrefix(right, "evenkeel-drills-"), n, s.ending(p))
	// A pass without the permission to evict must not end with exit code 0.
	if right == mayEvict && p.cmd.ProcessState.ExitCode() != 1 {
		s.violate(witness.Conduct, p.user, "the process exited with %d although it had no permission to evict", p.cmd.ProcessState.ExitCode())
	}
	return errors.Join(<-failed, s.grant(ctx, right))
}
