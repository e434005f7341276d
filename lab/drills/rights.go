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

// tokenNamespace is that of the drill with ServiceAccounts.
const tokenNamespace = "drill-token"

// slowly lets a pass last long enough to lose something in its middle: the API
// server believes a token for 10 s after it was checked.
func (s *stage) slowly(ctx context.Context) error {
	if s.o.Short {
		return s.configure(ctx, "0 0 1 1 *")
	}
	s.rules.PerMinute, s.rules.PerPass, s.rules.PerOwner = 15, 10, 3
	return s.configure(ctx, "0 0 1 1 *")
}

// tokenGone: the pod that a ServiceAccount token is bound to is deleted in the
// middle of a pass.
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

// boundToken makes a ServiceAccount, a pod, and a token that ends with the pod.
func (s *stage) boundToken(ctx context.Context, name string) (string, error) {
	api := s.c.Client.CoreV1()
	if _, err := api.ServiceAccounts(s.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
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

// permissionGone: a right is taken away in the middle of a pass, and given back
// for the next.
func permissionGone(ctx context.Context, s *stage) error {
	if err := s.slowly(ctx); err != nil {
		return err
	}
	rights := []string{mayEvict, mayRecord, mayLead, mayRead}
	return s.again(ctx, func(int) error { return s.rightOnce(ctx, rights[s.did%len(rights)]) })
}

func (s *stage) rightOnce(ctx context.Context, right string) error {
	failed := make(chan error, 1)
	n := 2 + s.rnd.IntN(2) // the one before it takes place
	p, err := s.interrupted(ctx, how{}, n, func() { failed <- s.revoke(ctx, right) })
	if p == nil {
		return err
	}
	s.progress("%s revoked at eviction %d: %s", strings.TrimPrefix(right, "evenkeel-drills-"), n, s.ending(p))
	// Without the right to evict a pass cannot end as if nothing were wrong.
	if right == mayEvict && p.cmd.ProcessState.ExitCode() != 1 {
		s.violate(witness.Conduct, p.user, "it exited with %d though it was not allowed to evict", p.cmd.ProcessState.ExitCode())
	}
	return errors.Join(<-failed, s.grant(ctx, right))
}
