// Package cycle holds the data of one scheduling cycle: the facts about a replacement that no other
// pod changes, and the counts per topology domain that filters and scores read. The package never
// filters or scores.
package cycle
