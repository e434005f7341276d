// Package cycle holds what one scheduling cycle knows: the facts about a replacement
// that no other pod changes, and the counts per topology domain that filters and
// scores read. It never filters or scores.
package cycle
