package main

// figure is a table, and optionally drawings, computed from measurements.
type figure struct {
	name, title string
	description string
	table       func(measurements []Measurement) string
	drawings    func(measurements []Measurement) []drawing // nil if there are none
}

var figures = []figure{
	{"goals", "Goals and results", "Medians of all measurements so far.", goalTable, nil},
	{"cycle", "Planning: time of a cycle", `From a filled cache to the end of the cycle: the second loop of the descheduler in a
dry run (its cache is not yet filled in the first loop), and Evenkeel's pass.
` + "`evenkeel-plan` is `evenkeel plan`, which also reads the\ncluster; `evenkeel-once` is a dry run of the controller, `evenkeel run --once`.",
		dryRunTable("seconds", cycleSeconds), drawOverSizes("Planning: time of a cycle", "seconds", cycleSeconds)},
	{"planner", "Planning only", "Evenkeel's goals and planner, compared with the descheduler's strategies in its\nsecond loop. No limits apply.",
		plannerTable, drawOverSizes("Planning only", "seconds", plannerSeconds)},
	{"cpu", "Planning: CPU", "CPU time of the whole process including reading the cluster; for the descheduler\nwithout its first loop.",
		dryRunTable("CPU seconds", cpuSeconds), drawOverSizes("Planning: CPU time", "CPU seconds", cpuSeconds)},
	{"memory", "Planning: peak memory", "Peak resident memory (VmHWM).",
		dryRunTable("MiB", peakMiB), drawOverSizes("Planning: peak memory", "MiB", peakMiB)},
	{"requests", "Planning: API requests", "Counted in the audit log; a watch counts once.", dryRunTable("requests", requestCount), nil},
	{"planned", "Planning: evictions planned", "",
		dryRunTable("evictions", evictionCount), drawOverSizes("Evictions planned", "evictions", evictionCount)},
	{"live-memory", "Evicting: peak memory", "Peak resident memory while a few pods are evicted; `evenkeel-dry` is a dry run with\nthe same limit.", liveMemoryTable, drawLiveMemory},
	{"real", "Evicting until quiet", "Each program is restarted until it evicts nothing, at most six times. The next start\nwaits until every replacement is Ready.", evictionRunTable, drawEvictionRuns},
	{"rounds", "Evicting: every round", "", roundsTable, nil},
	{"predicted", "The plan's predictions and the results", "After the first pass. The descheduler makes no predictions.",
		predictionTable, drawHistograms},
}
