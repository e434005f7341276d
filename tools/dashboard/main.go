// Command dashboard prints the Grafana dashboard of the chart, charts/evenkeel/files/dashboard.json. A test compares
// them; `go run . > ../../charts/evenkeel/files/dashboard.json` writes it.
//
// The command decides which metrics people see and how they are summed over replicas. It never reads Prometheus.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	text, err := render()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
}

// render returns the dashboard as indented JSON with a newline at the end.
func render() ([]byte, error) {
	board, err := build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(board, "", "  ")
	return append(text, '\n'), err
}

func build() (dashboard.Dashboard, error) {
	b := dashboard.NewDashboardBuilder("Evenkeel").
		Uid("evenkeel").
		Description("What Evenkeel found uneven, what it evicted, and what keeps it from evicting.").
		Tags([]string{"evenkeel", "kubernetes"}).
		Time("now-24h", "now").Refresh("1m").Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Readonly().
		Link(dashboard.NewDashboardLinkBuilder("Metrics").Type(dashboard.DashboardLinkTypeLink).TargetBlank(true).
			Url("https://github.com/evenkeel-project/evenkeel/blob/main/docs/reference/metrics.md")).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")).
		WithVariable(releaseVariable("cluster", "Cluster", `label_values(evenkeel_build_info, cluster)`)).
		WithVariable(releaseVariable("namespace", "Namespace", `label_values(evenkeel_build_info{cluster=~"$cluster"}, namespace)`)).
		WithVariable(releaseVariable("job", "Job", `label_values(evenkeel_build_info{cluster=~"$cluster", namespace=~"$namespace"}, job)`))
	id := uint32(0)
	for _, row := range rows {
		id++
		b = b.WithRow(dashboard.NewRowBuilder(row.title).Id(id))
		for _, p := range row.panels {
			id++
			b = b.WithPanel(p.builder(id))
		}
	}
	return b.Build()
}

// releaseVariable selects releases by a label. By default, it selects all of them.
func releaseVariable(name, label, query string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).Label(label).Query(dashboard.StringOrMap{String: &query}).
		Datasource(datasource()).Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Multi(true).IncludeAll(true).AllValue(".*").Sort(dashboard.VariableSortAlphabeticalAsc).
		Current(dashboard.VariableOption{Text: text("All"), Value: text("$__all")})
}

func text(s string) dashboard.StringOrArrayOfString {
	return dashboard.StringOrArrayOfString{String: &s}
}
