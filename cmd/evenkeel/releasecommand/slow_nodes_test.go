package releasecommand

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/progress"
)

// slowCluster is a cluster whose API server takes 20 s for a list of nodes, and 3 s for each write of a node.
type slowCluster struct{ kubernetes.Interface }

func (c slowCluster) CoreV1() typedcorev1.CoreV1Interface { return slowCore{c.Interface.CoreV1()} }

type slowCore struct{ typedcorev1.CoreV1Interface }

func (c slowCore) Nodes() typedcorev1.NodeInterface { return slowNodes{c.CoreV1Interface.Nodes()} }

type slowNodes struct{ typedcorev1.NodeInterface }

func (n slowNodes) List(ctx context.Context, o metav1.ListOptions) (*corev1.NodeList, error) {
	time.Sleep(20 * time.Second)
	return n.NodeInterface.List(ctx, o)
}

func (n slowNodes) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, o metav1.PatchOptions,
	subresources ...string) (*corev1.Node, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(3 * time.Second):
		return n.NodeInterface.Patch(ctx, name, pt, data, o, subresources...)
	}
}

// TestCleanupDeletesTheStateInTime checks that --hints-timeout bounds the read of the nodes and the writes together,
// and that the state is deleted after it, although the API server is too slow for all hints.
func TestCleanupDeletesTheStateInTime(t *testing.T) {
	const nodes, hintsTimeout = 200, 40 * time.Second
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "evenkeel-pause"}})
		addExpiredHints(t, client, nodes)
		h := newHintCommand(slowCluster{client}, installed.Choice{Config: config.Default()}, progress.New(io.Discard, 80, clock.RealClock{}))
		c := &cobra.Command{}
		c.SetContext(t.Context())
		c.SetOut(io.Discard)
		start := time.Now()
		err := (&cleanupFlags{namespace: "ops", wait: time.Second, hintsTimeout: hintsTimeout}).cleanUp(c, slowCluster{client}, h, 30*time.Second)
		if err == nil || !strings.Contains(err.Error(), "removing the hint from node ") {
			t.Errorf("got error %v, want one about the nodes that keep their hints", err)
		}
		if took := time.Since(start); took > hintsTimeout+5*time.Second {
			t.Errorf("cleanup took %s, want hardly more than %s", took, hintsTimeout)
		}
		if list, err := client.CoreV1().ConfigMaps("ops").List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
			t.Errorf("%d ConfigMaps are left (%v)", len(list.Items), err)
		}
	})
}

// addExpiredHints adds nodes with steering hints, and waits until the hints have expired.
func addExpiredHints(t *testing.T, client *fake.Clientset, nodes int) {
	t.Helper()
	var list []hints.Hint
	for i := range nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}}
		must.Succeed(t, client.Tracker().Add(n))
		list = append(list, hints.Hint{Node: n.Name, Kind: hints.Taint, Run: "r1", Expires: time.Now()})
	}
	must.Succeed(t, writer.New(client, clock.RealClock{}, nil).Put(t.Context(), list))
	time.Sleep(time.Minute)
}

// TestRemovalsMayTakeLongerThanTheRead checks that the commands remove all hints although the writes take longer than
// the read of the nodes may take, and that they say meanwhile what they do.
func TestRemovalsMayTakeLongerThanTheRead(t *testing.T) {
	const nodes, readTimeout = 100, 30 * time.Second
	for _, command := range []string{"hints clear --config builtin", "hints gc --config builtin", "cleanup"} {
		synctest.Test(t, func(t *testing.T) {
			client := fake.NewClientset()
			addExpiredHints(t, client, nodes)
			var terminal, out bytes.Buffer
			line, start := progress.New(&terminal, 80, clock.RealClock{}), time.Now()
			var c *cobra.Command
			if command == "cleanup" {
				c = &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
					h := newHintCommand(slowCluster{client}, installed.Choice{Config: config.Default()}, line)
					return (&cleanupFlags{namespace: "ops", wait: time.Second, hintsTimeout: removalTimeout}).cleanUp(cmd, slowCluster{client}, h, readTimeout)
				}}
			} else {
				c = newHints(&Access{Logger: func(*cobra.Command) *slog.Logger { return nil }, SyncTimeout: readTimeout,
					Client:   func() (kubernetes.Interface, *rest.Config, error) { return slowCluster{client}, &rest.Config{}, nil },
					Progress: func() *progress.Line { return line }})
			}
			c.SetArgs(strings.Fields(command)[1:])
			c.SetContext(t.Context())
			c.SetOut(&out)
			c.SetErr(io.Discard)
			if err := c.Execute(); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			if took := time.Since(start); took <= readTimeout {
				t.Errorf("%s took %s, want longer than the read may take", command, took)
			}
			if got := listNodeHints(t, client); got != "" {
				t.Errorf("%s left %s", command, got)
			}
			if want := fmt.Sprintf("\rremoving hints from %d nodes (20s)", nodes); !strings.Contains(terminal.String(), want) {
				t.Errorf("%s: the terminal does not show %q but\n%q", command, want, terminal.String())
			}
			if !strings.HasPrefix(out.String(), "Removed hints from n0, n1, n10, ") {
				t.Errorf("%s says %q", command, out.String())
			}
		})
	}
}
