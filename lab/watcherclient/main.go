// Command watcherclient reads a load-watcher server with load-watcher's own client, like the trimaran scheduler
// plugins. The command prints the metrics of each node by type and operator, and the end of the window.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/paypal/load-watcher/pkg/watcher/api"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "watcherclient:", err)
		os.Exit(1)
	}
}

// output is the printed JSON: percentages by node, and by metric type and operator.
type output struct {
	End   int64
	Nodes map[string]map[string]float64
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: watcherclient URL")
	}
	client, err := api.NewServiceClient(args[0])
	if err != nil {
		return err
	}
	got, err := client.GetLatestWatcherMetrics()
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[0], err)
	}
	out := output{got.Window.End, map[string]map[string]float64{}}
	for name, node := range got.Data.NodeMetricsMap {
		out.Nodes[name] = map[string]float64{}
		for _, m := range node.Metrics {
			out.Nodes[name][m.Type+" "+m.Operator] = m.Value
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
