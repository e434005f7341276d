package conformance

import "github.com/evenkeel-project/evenkeel/config/convert/descheduler"

// schedule is the schedule of all converted strategies. Plans do not depend on it.
const schedule = "*/5 * * * *"

// convertedConfig converts the policy of a case to the text of a config.yaml.
func convertedConfig(c *recordedCase) (string, error) {
	text, err := policyOf(c)
	if err != nil {
		return "", err
	}
	converted, err := descheduler.Convert(text, descheduler.Options{Schedule: schedule})
	if err != nil {
		return "", err
	}
	return converted.Config + schedulerOf(c), nil
}

// schedulerOf returns the part of the configuration that describes the scheduler of a case.
// HighNodeUtilization is made for a scheduler that prefers full nodes; the others have the default
// scores.
func schedulerOf(c *recordedCase) string {
	if c.Plugin.Name != "HighNodeUtilization" {
		return ""
	}
	return "placement:\n  profiles:\n  - {schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}\n"
}
