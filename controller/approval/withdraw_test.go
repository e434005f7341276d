package approval

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
)

// TestWhatIsNotWithdrawn: Withdraw changes only the pending request with this id. It returns false if another process
// changed the request at the same time, and the error if the write failed.
func TestWhatIsNotWithdrawn(t *testing.T) {
	failed := errors.New("etcdserver: request timed out")
	conflict := apierrors.NewConflict(corev1.Resource("configmaps"), ConfigMapName, errors.New("old version"))
	for _, c := range []struct {
		state, id   string
		write, want error
		withdrawn   bool
	}{
		{statePending, "a1", nil, nil, true},
		{statePending, "a2", nil, nil, false},
		{stateClaimed, "a1", nil, nil, false},
		{stateAnswered, "a1", nil, nil, false},
		{statePending, "a1", conflict, nil, false},
		{statePending, "a1", failed, failed, false},
	} {
		client := fake.NewClientset(requestInState(t, c.state))
		client.PrependReactor("update", "configmaps", func(ktesting.Action) (bool, runtime.Object, error) {
			return c.write != nil, nil, c.write
		})
		b := New(client, "evenkeel")
		got, err := b.Withdraw(t.Context(), c.id)
		want := c.state
		if c.withdrawn {
			want = stateWithdrawn
		}
		if o, _ := b.get(t.Context()); got != c.withdrawn || !errors.Is(err, c.want) || o.Data[keyState] != want {
			t.Errorf("%s in state %q, write error %v: got %v, error %v, then state %q", c.id, c.state, c.write, got, err, o.Data[keyState])
		}
	}
}

// TestAWithdrawalWithALostAnswer checks what Withdraw returns if the API server's answer is lost: true only if the
// stored request is the one to withdraw, and is withdrawn.
func TestAWithdrawalWithALostAnswer(t *testing.T) {
	lost := errors.New("read tcp: connection reset by peer")
	for _, c := range []struct {
		name      string
		stored    func(o *corev1.ConfigMap)
		withdrawn bool
	}{
		{"withdrawn", func(o *corev1.ConfigMap) { o.Data[keyState] = stateWithdrawn }, true},
		{"unchanged", func(*corev1.ConfigMap) {}, false},
		{"claimed", func(o *corev1.ConfigMap) { o.Data[keyState] = stateClaimed }, false},
		{"another request, withdrawn", func(o *corev1.ConfigMap) { o.Data[keyID], o.Data[keyState] = "a2", stateWithdrawn }, false},
		{"submitted again, withdrawn", func(o *corev1.ConfigMap) {
			o.Data[keyAt], o.Data[keyState] = "2026-03-01T13:00:00Z", stateWithdrawn
		}, false},
		{"another object, withdrawn", func(o *corev1.ConfigMap) { o.UID, o.Data[keyState] = "another", stateWithdrawn }, false},
	} {
		client := fake.NewClientset(requestInState(t, statePending))
		client.PrependReactor("update", "configmaps", func(a ktesting.Action) (bool, runtime.Object, error) {
			o := requestInState(t, statePending)
			c.stored(o)
			return true, nil, errors.Join(client.Tracker().Update(a.GetResource(), o, "evenkeel"), lost)
		})
		got, err := New(client, "evenkeel").Withdraw(t.Context(), "a1")
		if got != c.withdrawn || (err == nil) != c.withdrawn || err != nil && !errors.Is(err, lost) {
			t.Errorf("%s: withdrawn %v, error %v", c.name, got, err)
		}
	}
}

// TestWhatIsReplaced checks that a new request does not replace an unfinished request until claimTimeout has passed.
func TestWhatIsReplaced(t *testing.T) {
	for _, c := range []struct {
		state string
		after time.Duration
		says  string // "" if the new request replaces it
	}{
		{statePending, claimTimeout - time.Second, "plan a1, approved by alice at 2026-03-01T12:00:00Z, is waiting for the leader"},
		{stateClaimed, claimTimeout - time.Second, "plan a1, approved by alice at 2026-03-01T12:00:00Z, is being executed"},
		{"", claimTimeout - time.Second, "waiting for the leader"},
		{stateAnswered, 0, ""}, {stateWithdrawn, 0, ""}, {statePending, claimTimeout, ""}, {stateClaimed, claimTimeout, ""},
	} {
		b := New(fake.NewClientset(requestInState(t, c.state)), "evenkeel")
		next := testRequest("a2", 1)
		next.ApprovedAt = noon.Add(c.after)
		err := b.Submit(t.Context(), next)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("state %q, %s later: error %v, want %q", c.state, c.after, err, c.says)
		}
		if got, pending := b.Pending(t.Context()); err == nil && (pending != nil || got == nil || got.Plan.ID != "a2") {
			t.Errorf("state %q, %s later: pending %+v, error %v", c.state, c.after, got, pending)
		}
	}
}
